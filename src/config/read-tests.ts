/** Tests of a config: written in place, in files of many kinds, in tables, or made by code. */
import { dirname } from 'node:path';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { SuiteTest, TestSource } from '../domain/suite.ts';
import { checkTests, kindName, withoutNulls } from './check-config.ts';
import { openCsv } from './csv-table.ts';
import { dereference } from './dereference.ts';
import { loadReferences } from './external-files.ts';
import { absolute, fileReference, isCode, referencedCode } from './file-reference.ts';
import { type Loading, readSource, runCode } from './loading.ts';

type Fault = (message: string, hint?: string) => void;
/** Tests in memory, or a table that is read when it is needed. */
type Segment = readonly SuiteTest[] | TestSource;

const unsupported =
  /^(?:huggingface:\/\/|az:\/\/|https:\/\/docs\.google\.com\/|https:\/\/[^/]+\.sharepoint\.com\/)|\.xlsx?(?:#.*)?$/i;

export interface TestsPlace {
  readonly folder: string;
  readonly loading: Loading;
  fault(at: number | undefined): Fault;
}

/** All tests that a config's `tests` stands for, in order. */
export async function readTests(tests: Json | undefined, place: TestsPlace): Promise<TestSource> {
  const segments: Segment[] = [];
  if (typeof tests === 'string') segments.push(...(await fromPath(tests, true, place, place.fault(undefined))));
  else if (Array.isArray(tests)) {
    for (const [at, entry] of tests.entries()) segments.push(...(await fromEntry(entry, place, place.fault(at))));
  } else if (isObject(tests)) segments.push(...(await fromEntry(tests, place, place.fault(undefined))));
  return joined(segments);
}

/** One source after another. */
export function joined(segments: readonly Segment[]): TestSource {
  const [only] = segments;
  if (segments.length === 1 && only !== undefined && 'read' in only) return only;
  return {
    count: segments.reduce((sum, segment) => sum + ('read' in segment ? segment.count : segment.length), 0),
    async *read() {
      for (const segment of segments) yield* 'read' in segment ? segment.read() : segment;
    },
  };
}

async function fromEntry(entry: Json, place: TestsPlace, fault: Fault): Promise<Segment[]> {
  if (typeof entry === 'string') return fromPath(entry, false, place, fault);
  if (!isObject(entry)) return [];
  const path = entry['path'];
  if (typeof path === 'string' && entry['vars'] === undefined) {
    const { folder, loading } = place;
    const config =
      entry['config'] === undefined ? undefined : await loadReferences(entry['config'], folder, loading, fault);
    return [await fromCode(path, config, place, fault)];
  }
  const test = await readTest(entry, place.folder, place.loading, fault);
  return test === undefined ? [] : [[test]];
}

async function fromPath(text: string, alone: boolean, place: TestsPlace, fault: Fault): Promise<Segment[]> {
  const { folder, loading } = place;
  if (unsupported.test(text)) {
    fault(`tests cannot be loaded from ${text}`, 'save them as .csv, .json, .jsonl or .yaml');
    return [];
  }
  const reference = fileReference(text);
  if (isCode(reference.path)) return [await fromCode(text, undefined, place, fault)];
  const found = await loading.files.glob(reference.path, folder);
  if (found.length === 0) fault(`no tests found at ${loading.shown(absolute(reference.path, folder))}`);
  const segments: Segment[] = [];
  for (const file of found) segments.push(...(await fromFile(file, alone, place, fault)));
  return segments;
}

async function fromFile(file: string, alone: boolean, place: TestsPlace, fault: Fault): Promise<Segment[]> {
  const { loading } = place;
  if (isCode(file)) return [await fromCode(`file://${file}`, undefined, place, fault)];
  if (file.endsWith('.csv')) {
    const table = await openCsv(file, loading);
    return table === undefined ? [] : [table];
  }
  if (file.endsWith('.jsonl')) return [await complete(await jsonLines(file, loading), file, alone, place, fault)];
  if (!/\.(?:ya?ml|json)$/.test(file)) {
    fault(`tests cannot be read from ${loading.shown(file)}`, 'known endings: csv, json, jsonl, yaml, yml, js, ts, py');
    return [];
  }
  const document = await readSource(file, loading);
  if (document?.value === undefined) return [];
  const list = Array.isArray(document.value) ? document.value : [document.value];
  for (const problem of checkTests(document, list, loading.note)) loading.report(problem);
  const whole = await dereference(list, file, loading, (_path, message) => fault(message));
  return [await complete(whole as readonly Json[], file, alone && file.endsWith('.json'), place, fault)];
}

async function jsonLines(file: string, loading: Loading): Promise<Json[]> {
  const text = (await loading.files.read(file)) ?? '';
  const values: Json[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(JSON.parse(line) as Json);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const column = Number(/position (\d+)/.exec(message)?.[1] ?? 0) + 1;
      loading.report({
        file: loading.shown(file),
        line: at + 1,
        column,
        message: `not valid JSON: ${message}`,
        excerpt: line,
      });
    }
  }
  return values;
}

async function complete(
  values: readonly Json[],
  file: string,
  numbered: boolean,
  place: TestsPlace,
  fault: Fault,
): Promise<SuiteTest[]> {
  const tests: SuiteTest[] = [];
  const loaded = (await loadReferences(values, place.folder, place.loading, fault)) as readonly Json[];
  for (const [at, value] of loaded.entries()) {
    if (!isObject(value)) continue;
    const test = await readTest(value, dirname(file), place.loading, fault);
    if (test !== undefined)
      tests.push(numbered && !test.description ? { ...test, description: `Row #${at + 1}` } : test);
  }
  return tests;
}

async function fromCode(path: string, config: Json | undefined, place: TestsPlace, fault: Fault): Promise<SuiteTest[]> {
  const { folder, loading } = place;
  const code = referencedCode(path, folder, 'generate_tests');
  if (code === undefined) {
    fault(`${path} is no code file`, 'a generator is a .js, .ts or .py file');
    return [];
  }
  if (code.kind === 'file' && (await loading.files.kind(code.path)) === undefined) {
    fault(`no tests found at ${loading.shown(code.path)}`);
    return [];
  }
  const args = config === undefined ? [] : [config];
  const outcome = await runCode(loading, { code, args, mode: 'read', timeoutMs: 120_000 });
  if ('fault' in outcome) {
    fault(`${path}: ${outcome.fault}`);
    return [];
  }
  if (!Array.isArray(outcome.value)) {
    fault(`${path} must give a list of tests, it gave ${kindName(outcome.value)}`);
    return [];
  }
  const tests: SuiteTest[] = [];
  for (const value of outcome.value as readonly Json[]) {
    const test = isObject(value) ? await readTest(value, folder, loading, fault) : undefined;
    if (test !== undefined) tests.push(test);
  }
  return tests;
}

/** A test with its vars files loaded. One that says nothing at all is a mistake. */
export async function readTest(
  value: JsonObject,
  folder: string,
  loading: Loading,
  fault: Fault,
  isDefault = false,
): Promise<SuiteTest | undefined> {
  const { vars, ...rest } = withoutNulls(value);
  const loaded = typeof vars === 'string' || Array.isArray(vars) ? await varsFrom(vars, folder, loading, fault) : vars;
  const test = { ...rest, ...(loaded === undefined ? {} : { vars: loaded }) } as SuiteTest;
  const says = ['assert', 'vars', 'options', 'metadata', 'provider', 'providerOutput'] as const;
  if (isDefault || says.some((key) => test[key]) || typeof test.threshold === 'number') return test;
  fault('this test says nothing', 'it needs vars, assert, options, metadata, provider, providerOutput or threshold');
  return undefined;
}

async function varsFrom(
  paths: string | readonly Json[],
  folder: string,
  loading: Loading,
  fault: Fault,
): Promise<JsonObject> {
  let vars: JsonObject = {};
  for (const path of typeof paths === 'string' ? [paths] : paths.map(String)) {
    const found = await loading.files.glob(path.replace(/^file:\/\//, ''), folder);
    if (found.length === 0) fault(`no vars file found at ${path}`);
    for (const file of found) {
      const value = (await readSource(file, loading))?.value;
      if (isObject(value)) vars = { ...vars, ...value };
    }
  }
  return vars;
}
