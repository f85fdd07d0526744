import { extname } from 'node:path';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Assertion } from '../domain/verdict.ts';
import { CheckProblem, type GradingPorts } from './check.ts';
import { assertionContext } from './code-context.ts';
import type { Subject } from './subject.ts';
import { codeInFile, fileReference } from './user-code.ts';

/** An assertion's value made ready: templates filled in, files read, scripts asked. */
export interface ReadyValue {
  readonly value: Json | undefined;
  /** Set when a script gave it; for code assertions this is the answer itself. */
  readonly scripted?: { readonly value: unknown };
  /** Set when the script said no by failing, which counts as a failed check where scripts are the check. */
  readonly failed?: string;
}

interface Surroundings {
  readonly subject: Subject;
  readonly output: Json;
  readonly ports: GradingPorts;
  readonly baseDir: string;
  readonly signal: AbortSignal;
}

const codeTypes = new Set(['javascript', 'python', 'ruby']);

/** A value file: JSON and YAML become data, text is trimmed. */
async function readValueFile(reference: string, { ports, baseDir }: Surroundings): Promise<Json> {
  const { path } = fileReference(reference, baseDir);
  const text = await ports.files.read(path);
  if (text === undefined) throw new CheckProblem(`There is no file ${path}`);
  switch (extname(path)) {
    case '.json':
    case '.yaml':
    case '.yml':
      try {
        return parse(text) as Json;
      } catch (error) {
        throw new CheckProblem(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      }
    case '.txt':
    case '.md':
      return text.trim();
    default:
      throw new CheckProblem(
        `${path}: a value file ends in .json, .yaml, .yml, .txt, .md, or is code (.js, .ts, .py, .rb)`,
      );
  }
}

/** A script's answer as a value to compare with: plain data, and not a verdict. */
function comparable(value: unknown, type: string): Json {
  const isVerdict = typeof value === 'boolean' || (isObject(value) && 'pass' in value);
  if (isVerdict) throw new CheckProblem(`The script of "${type}" gave a verdict; only javascript, python and ruby may`);
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) {
    throw new CheckProblem(`The script of "${type}" gave ${String(value)} instead of a value`);
  }
  return value as Json;
}

async function fromFile(
  reference: string,
  type: string,
  assertion: Assertion,
  around: Surroundings,
): Promise<ReadyValue> {
  const file = fileReference(reference, around.baseDir);
  const { language } = file;
  if (language === undefined) return { value: await readValueFile(reference, around) };
  const outcome = await around.ports.code.run(
    {
      code: codeInFile({ ...file, language }, 'get_assert'),
      args: [around.output, assertionContext(around.subject, assertion)],
    },
    { signal: around.signal },
  );
  if (outcome.kind === 'broke') throw new CheckProblem(`${reference} gave no answer: ${outcome.message}`);
  if (outcome.kind === 'threw') {
    if (language === 'javascript') throw new CheckProblem(`${reference} threw: ${outcome.message}`);
    return { value: reference, failed: `${reference} failed: ${outcome.message}` };
  }
  if (codeTypes.has(type)) return { value: reference, scripted: { value: outcome.value } };
  return { value: comparable(outcome.value, type) };
}

async function rendered(template: string, vars: JsonObject, { ports }: Surroundings): Promise<string> {
  try {
    return await ports.render(template, vars);
  } catch (error) {
    throw new CheckProblem(
      `The assertion's value cannot be filled in: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Makes the value of one assertion ready. Templates are filled in for text and for texts in lists, not in objects. */
export async function readyValue(type: string, assertion: Assertion, around: Surroundings): Promise<ReadyValue> {
  const { value } = assertion;
  const { vars } = around.subject;
  if (typeof value === 'string') {
    if (value.startsWith('file://')) return fromFile(value, type, assertion, around);
    return { value: await rendered(value, vars, around) };
  }
  if (Array.isArray(value)) {
    const items = value.map(async (item: Json) => {
      if (typeof item !== 'string') return item;
      return item.startsWith('file://') ? readValueFile(item, around) : rendered(item, vars, around);
    });
    return { value: await Promise.all(items) };
  }
  return { value };
}
