import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { JsonObject } from '../domain/json.ts';

/** A memo of a pure function: compiling takes milliseconds, and a batch asks for the same schema thousands of times. */
const compiled = new WeakMap<JsonObject, ValidateFunction>();

/** Compiles a tool's parameter schema; throws when it is not a JSON Schema. */
export function compileParameters(parameters: JsonObject): ValidateFunction {
  const known = compiled.get(parameters);
  if (known !== undefined) return known;
  const fresh = compile(parameters);
  compiled.set(parameters, fresh);
  return fresh;
}

function compile(parameters: JsonObject): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: true, logger: false });
  formats.default(ajv);
  return ajv.compile(parameters);
}

/** Why these parameters are not a JSON Schema, or undefined when they are one. */
export function parameterFault(parameters: JsonObject): string | undefined {
  try {
    compileParameters(parameters);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What a validator found, in words that a model can act on. */
export const validationMessage = (errors: readonly ErrorObject[]): string =>
  errors
    .slice(0, 8)
    .map(({ instancePath, message, params }) => {
      const extra = 'additionalProperty' in params ? ` ("${params['additionalProperty']}")` : '';
      return `${instancePath === '' ? 'arguments' : instancePath.slice(1).replaceAll('/', '.')} ${message}${extra}`;
    })
    .join('; ');
