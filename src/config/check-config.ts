/**
 * Finds what is wrong with a config's own text: types, unknown keys, unknown assertions. Every problem of a file in one
 * pass, each at its place. Keys and assertions nobody knows are warnings, as old configs run with them; everything that
 * is Parlane's own is checked strictly.
 */
import type { z } from 'zod';
import { assertionTypes, isAssertionType, specialAssertionTypes } from '../domain/assertion-types.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import { didYouMean } from '../prompts/nearest-name.ts';
import { keysAt } from '../prompts/schema-problems.ts';
import type { SourceDocument } from '../prompts/source-document.ts';
import {
  assertionSchema,
  assertSetSchema,
  configSchema,
  generatorSchema,
  ownKeys,
  promptSchema,
  providerSchema,
  scenarioSchema,
  testSchema,
} from './schema.ts';
import type { WrittenTest } from './written-test.ts';

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;
interface Piece {
  readonly shape?: Readonly<Record<string, unknown>>;
  safeParse(value: unknown): { success: boolean; error?: { issues: Issue[] } | undefined };
}

/** YAML's empty value stands for "nothing said". */
export function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null));
}

export function kindName(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return isObject(value) ? 'a map' : typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

type Note = (test: WrittenTest) => void;

/** All problems of one config file's own text; every test that stands in it is handed to `note`. */
export function checkConfig(document: SourceDocument, referenced?: ReadonlySet<string>, note?: Note): Problem[] {
  if (document.value === undefined) return [document.at([], 'the config is empty', 'it needs prompts and providers')];
  if (!isObject(document.value))
    return [document.at([], `a config is a map of keys, this is ${kindName(document.value)}`)];
  const checker = new Checker(document, note, referenced);
  checker.config(withoutNulls(document.value));
  return checker.problems;
}

/** Problems of tests that stand in a file of their own. */
export function checkTests(document: SourceDocument, tests: readonly Json[], note?: Note): Problem[] {
  const checker = new Checker(document, note);
  for (const [at, test] of tests.entries()) checker.test(test, Array.isArray(document.value) ? [at] : []);
  return checker.problems;
}

class Checker {
  readonly problems: Problem[] = [];
  readonly #document: SourceDocument;
  readonly #note: Note;
  readonly #referenced: ReadonlySet<string>;

  constructor(document: SourceDocument, note: Note = () => {}, referenced: ReadonlySet<string> = new Set()) {
    this.#document = document;
    this.#note = note;
    this.#referenced = referenced;
  }

  config(config: JsonObject): void {
    this.#piece(configSchema, config, []);
    if (config['providers'] !== undefined && config['targets'] !== undefined) {
      this.#add(this.#document.atKey(['targets'], '"providers" and "targets" are the same thing', 'keep one of them'));
    }
    const callers = config['targets'] === undefined ? 'providers' : 'targets';
    this.#providers(config[callers], [callers]);
    this.#prompts(config['prompts']);
    this.#tests(config['tests'], ['tests']);
    this.#defaultTest(config['defaultTest']);
    this.#scenarios(config['scenarios']);
    this.#checks(config['conversations']);
  }

  test(test: Json, path: Path): void {
    if (typeof test === 'string') return;
    if (!isObject(test)) {
      this.#add(this.#document.at(path, `a test is a map or a path, this is ${kindName(test)}`));
      return;
    }
    if (typeof test['path'] === 'string' && test['vars'] === undefined) {
      this.#piece(generatorSchema, test, path);
      return;
    }
    this.#note({ test, at: (part, message, hint) => this.#document.at([...path, ...part], message, hint) });
    this.#piece(testSchema, test, path);
    this.#asserts(test['assert'], [...path, 'assert']);
    if (isObject(test['vars']) && test['vars']['assert'] !== undefined) {
      const hint = 'move it one level up, beside "vars"';
      this.#warn(this.#document.atKey([...path, 'vars', 'assert'], '"assert" stands inside "vars"', hint));
    }
  }

  #providers(value: Json | undefined, path: Path): void {
    if (value === undefined || typeof value === 'string') return;
    if (Array.isArray(value)) value.forEach((entry, at) => void this.#provider(entry, [...path, at]));
    else this.#expected('a list', value, path);
  }

  #provider(entry: Json, place: Path): void {
    if (typeof entry === 'string') return;
    if (!isObject(entry)) {
      this.#add(this.#document.at(place, `a provider is text or a map, this is ${kindName(entry)}`));
      return;
    }
    const keys = Object.keys(entry);
    const [only] = keys;
    const inner = only === undefined || Object.hasOwn(providerSchema.shape, only) ? undefined : entry[only];
    if (only !== undefined && keys.length === 1 && isObject(inner)) {
      this.#piece(providerSchema, inner, [...place, only]);
      return;
    }
    this.#piece(providerSchema, entry, place);
    if (typeof entry['id'] !== 'string') {
      this.#add(this.#document.at(place, 'this provider has no "id"', 'for example id: openai:chat:gpt-4.1'));
    }
  }

  #prompts(value: Json | undefined): void {
    if (value === undefined || typeof value === 'string' || isObject(value)) return;
    if (!Array.isArray(value)) {
      this.#expected('a list', value, ['prompts']);
      return;
    }
    if (value.length === 0) this.#add(this.#document.at(['prompts'], 'there are no prompts in this list'));
    value.forEach((entry, at) => void this.#prompt(entry, ['prompts', at]));
  }

  #prompt(entry: Json, place: Path): void {
    if (typeof entry === 'string') return;
    if (!isObject(entry)) {
      this.#add(this.#document.at(place, `a prompt is text or a map, this is ${kindName(entry)}`));
      return;
    }
    this.#piece(promptSchema, entry, place);
    if (typeof entry['raw'] === 'string' || typeof entry['id'] === 'string') return;
    const hint = 'put its text into "raw" or its file into "id"';
    this.#add(this.#document.at(place, 'this prompt has neither "raw" nor "id"', hint));
  }

  #tests(value: Json | undefined, path: Path): void {
    if (value === undefined || typeof value === 'string') return;
    if (isObject(value)) {
      this.#piece(generatorSchema, value, path);
      return;
    }
    if (!Array.isArray(value)) {
      this.#expected('a list or a path', value, path);
      return;
    }
    value.forEach((test, at) => void this.test(test, [...path, at]));
  }

  #defaultTest(value: Json | undefined): void {
    if (value === undefined) return;
    if (typeof value !== 'string') {
      this.test(value, ['defaultTest']);
      return;
    }
    if (value.startsWith('file://')) return;
    this.#add(this.#document.at(['defaultTest'], 'defaultTest is a map or starts with file://'));
  }

  #scenarios(value: Json | undefined): void {
    if (value === undefined || typeof value === 'string') return;
    if (!Array.isArray(value)) {
      this.#expected('a list', value, ['scenarios']);
      return;
    }
    value.forEach((scenario, at) => void this.#scenario(scenario, ['scenarios', at]));
  }

  #scenario(scenario: Json, place: Path): void {
    if (typeof scenario === 'string') return;
    if (!isObject(scenario)) {
      this.#add(this.#document.at(place, `a scenario is a map, this is ${kindName(scenario)}`));
      return;
    }
    this.#piece(scenarioSchema, scenario, place);
    for (const key of ['config', 'tests']) {
      const list = scenario[key];
      if (Array.isArray(list)) list.forEach((test, n) => void this.test(test, [...place, key, n]));
    }
  }

  #expected(what: string, value: Json, path: Path): void {
    this.#add(this.#document.at(path, `${path.map(String).join('.')}: expected ${what}, this is ${kindName(value)}`));
  }

  /** Checks of conversations; which types there are is known to those who run them. */
  #checks(value: Json | undefined): void {
    for (const [at, batch] of Array.isArray(value) ? value.entries() : []) {
      if (!isObject(batch)) continue;
      this.#checkList(batch['checks'], ['conversations', at, 'checks']);
      const scenarios = Array.isArray(batch['scenarios']) ? batch['scenarios'] : [];
      for (const [n, scenario] of scenarios.entries())
        if (isObject(scenario)) this.#checkList(scenario['checks'], ['conversations', at, 'scenarios', n, 'checks']);
    }
  }

  #checkList(checks: Json | undefined, list: Path): void {
    for (const [n, check] of Array.isArray(checks) ? checks.entries() : []) {
      const path = [...list, n];
      if (isObject(check) && typeof check['type'] === 'string') {
        // One check is noted as a test with one assertion; what leads into that one leads into the check.
        const into = (part: Path): Path => [...path, ...part.slice(2)];
        const where: WrittenTest['at'] = (part, message, hint) => this.#document.at(into(part), message, hint);
        this.#note({ test: { assert: [check] }, at: where });
        continue;
      }
      this.#add(this.#document.at(path, 'this check has no "type"'));
    }
  }

  #asserts(value: Json | undefined, path: Path): void {
    if (Array.isArray(value)) value.forEach((entry, at) => void this.#assertion(entry, [...path, at]));
  }

  #assertion(entry: Json, place: Path): void {
    // A reference that leads nowhere has been told already.
    if (typeof entry === 'string' || (isObject(entry) && '$ref' in entry)) return;
    if (!isObject(entry)) {
      this.#add(this.#document.at(place, `an assertion is a map, this is ${kindName(entry)}`));
      return;
    }
    const type = entry['type'];
    if (type === 'assert-set') {
      this.#piece(assertSetSchema, { ...entry, assert: [] }, place);
      if (!Array.isArray(entry['assert'])) this.#add(this.#document.at(place, 'this assert-set has no list "assert"'));
      this.#asserts(entry['assert'], [...place, 'assert']);
      return;
    }
    this.#piece(assertionSchema, entry, place);
    if (typeof type === 'string' && type !== '' && !isAssertionType(type)) {
      const names = [...assertionTypes, ...specialAssertionTypes];
      const hint = didYouMean(type, [...names, ...assertionTypes.map((name) => `not-${name}`)]);
      this.#warn(
        this.#document.at([...place, 'type'], `there is no assertion "${type}"`, hint ?? 'its rows will be errors'),
      );
    }
  }

  #piece(schema: Piece, value: JsonObject, path: Path): void {
    const result = schema.safeParse(withoutNulls(value));
    for (const issue of result.error?.issues ?? []) this.#issue(issue, schema, path);
  }

  #issue(issue: Issue, schema: Piece, path: Path): void {
    const place = [...path, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const names = keysAt(schema, issue.path);
      const own = typeof place[0] === 'string' && Object.hasOwn(ownKeys, place[0]);
      for (const key of issue.keys) {
        // Keys that hold parts for anchors and references are everybody's own.
        if (place.length === 0 && (/^(?:x-|_|\.)/.test(key) || this.#referenced.has(key))) continue;
        const problem = this.#document.atKey([...place, key], `unknown key "${key}"`, didYouMean(key, names));
        if (own) this.#add(problem);
        else this.#warn(problem);
      }
      return;
    }
    const name = issue.path.map(String).join('.');
    const inner = issue.code === 'invalid_union' ? deepestOf(issue) : undefined;
    if (inner !== undefined) {
      this.#issue(inner, schema, path);
      return;
    }
    this.#add(this.#document.at(place, issueText(issue, name)));
  }

  #add(problem: Problem): void {
    this.problems.push(problem);
  }

  #warn(problem: Problem): void {
    this.problems.push({ ...problem, severity: 'warning' });
  }
}

/** Of a union's complaints the one that got furthest, when one did. */
function deepestOf(issue: Extract<Issue, { code: 'invalid_union' }>): Issue | undefined {
  const best = issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0];
  if (best === undefined || best.path.length === 0) return undefined;
  return { ...best, path: [...issue.path, ...best.path] } as Issue;
}

function issueText(issue: Issue, name: string): string {
  const subject = name === '' ? 'this' : name;
  if (issue.code === 'invalid_type') {
    const missing = /received undefined$/.test(issue.message);
    return missing ? `"${name}" is missing` : `${subject}: expected ${expectedName(issue.expected)}`;
  }
  if (issue.code === 'invalid_value')
    return `${subject}: expected ${issue.values.map((value) => `"${String(value)}"`).join(' or ')}`;
  if (issue.code === 'too_small' && issue.origin === 'string') return `${subject}: must not be empty`;
  if (issue.code === 'too_small')
    return `${subject}: must be ${issue.inclusive === true ? 'at least' : 'more than'} ${String(issue.minimum)}`;
  if (issue.code === 'invalid_union') return unionText(issue, subject);
  return `${subject}: ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
}

function unionText(issue: Extract<Issue, { code: 'invalid_union' }>, subject: string): string {
  const parts = issue.errors.flat().filter((part) => part.path.length === 0);
  const kinds = parts.flatMap((part) => (part.code === 'invalid_type' ? [expectedName(part.expected)] : []));
  if (parts.some((part) => /received undefined$/.test(part.message))) return `"${subject}" is missing`;
  return kinds.length === 0
    ? `${subject}: not a value that is allowed here`
    : `${subject}: expected ${[...new Set(kinds)].join(' or ')}`;
}

const names: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};
const expectedName = (expected: string): string => names[expected] ?? expected;
