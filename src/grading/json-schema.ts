import type { Ajv, ValidateFunction } from 'ajv';
import type { JsonObject } from '../domain/json.ts';
import { CheckProblem } from './check.ts';

/** Compiled schemas by identity; a suite shares one schema object or text among thousands of rows. */
export class SchemaValidator {
  #ajv: Ajv | undefined;
  readonly #byObject = new WeakMap<object, ValidateFunction>();
  readonly #byText = new Map<string, ValidateFunction>();

  /** Undefined when the data fits, else what is wrong with it. Throws a CheckProblem for a schema that is none. */
  async problemsOf(schema: JsonObject, data: unknown): Promise<string | undefined> {
    const validate = await this.#compiled(schema);
    if (validate(data)) return undefined;
    return (validate.errors ?? []).map((error) => `data${error.instancePath} ${error.message ?? ''}`.trim()).join(', ');
  }

  async #compiled(schema: JsonObject): Promise<ValidateFunction> {
    const known = this.#byObject.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    const compiled = this.#byText.get(text) ?? (await this.#compile(JSON.parse(text) as JsonObject));
    this.#byText.set(text, compiled);
    this.#byObject.set(schema, compiled);
    return compiled;
  }

  async #compile(schema: JsonObject): Promise<ValidateFunction> {
    try {
      return (await this.#engine()).compile(schema);
    } catch (error) {
      throw new CheckProblem(`The JSON schema cannot be used: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #engine(): Promise<Ajv> {
    if (this.#ajv === undefined) {
      const [{ Ajv: Engine }, formats] = await Promise.all([import('ajv'), import('ajv-formats')]);
      this.#ajv = new Engine({ strictSchema: true, logger: false });
      formats.default.default(this.#ajv);
    }
    return this.#ajv;
  }
}
