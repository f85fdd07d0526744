/** Filters over tests, in the order promptfoo applies them: metadata, earlier results, pattern, range, first n, sample. */
import type { Json } from '../domain/json.ts';
import type { SuiteTest } from '../domain/suite.ts';

export interface TestFilters {
  /** `key=value`; several must all hold. */
  readonly metadata?: readonly string[];
  /** Tests of an earlier run that this lets through. */
  readonly earlier?: (test: SuiteTest) => boolean;
  /** A regular expression over descriptions. */
  readonly pattern?: string;
  /** `start:end`, end exclusive. */
  readonly range?: string;
  readonly firstN?: number;
  readonly sample?: number;
  readonly sampleSeed?: number;
  /** For samples without a seed. */
  readonly random?: () => number;
}

/** A filter that cannot be understood; `option` is the flag it came by. */
export class BadFilter extends Error {
  readonly option: string;

  constructor(option: string, message: string) {
    super(`${option}: ${message}`);
    this.option = option;
  }
}

export const isFiltered = (filters: TestFilters): boolean =>
  Object.values(filters).some((value) => value !== undefined);

export function filterTests(tests: readonly SuiteTest[], filters: TestFilters): SuiteTest[] {
  const metadata = (filters.metadata ?? []).map(metadataCondition);
  const pattern = filters.pattern === undefined ? undefined : compiled(filters.pattern);
  let kept = tests.filter(
    (test) =>
      metadata.every((holds) => holds(test)) &&
      (filters.earlier === undefined || filters.earlier(test)) &&
      (pattern === undefined || (test.description !== undefined && pattern.test(test.description))),
  );
  if (filters.range !== undefined) {
    const { start, end } = parseRange(filters.range);
    kept = kept.slice(start, end);
  }
  if (filters.firstN !== undefined) kept = kept.slice(0, filters.firstN);
  return filters.sample === undefined ? kept : sample(kept, filters.sample, randomOf(filters));
}

function metadataCondition(condition: string): (test: SuiteTest) => boolean {
  const at = condition.indexOf('=');
  const [key, value] = [condition.slice(0, at), condition.slice(at + 1)];
  if (at < 1 || value === '') throw new BadFilter('--filter-metadata', `"${condition}" is not key=value`);
  return (test) => {
    const found: Json | undefined = test.metadata?.[key];
    if (found === undefined || found === null) return false;
    return (Array.isArray(found) ? found : [found]).some((item) => String(item).includes(value));
  };
}

function compiled(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new BadFilter('--filter-pattern', error instanceof Error ? error.message : String(error));
  }
}

/** Reads `start:end`; either side may be left out, not both. */
export function parseRange(range: string): { readonly start: number; readonly end: number | undefined } {
  const match = /^(\d*)\s*:\s*(\d*)$/.exec(range.trim());
  const [, from = '', to = ''] = match ?? [];
  if (match === null || (from === '' && to === ''))
    throw new BadFilter('--filter-range', `"${range}" is not start:end`);
  const start = from === '' ? 0 : Number(from);
  const end = to === '' ? undefined : Number(to);
  if (end !== undefined && start > end) throw new BadFilter('--filter-range', `"${range}" starts after its end`);
  return { start, end };
}

function sample(tests: readonly SuiteTest[], count: number, random: () => number): SuiteTest[] {
  const mixed = [...tests];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [a, b] = [mixed[at], mixed[other]];
    if (a !== undefined && b !== undefined) [mixed[at], mixed[other]] = [b, a];
  }
  return mixed.slice(0, count);
}

/** The generator that promptfoo seeds, so that a seed picks the same tests there and here. */
function randomOf({ sampleSeed, random }: TestFilters): () => number {
  if (sampleSeed === undefined) return random ?? (() => 0.5);
  let state = fnv(String(sampleSeed));
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

function fnv(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash;
}

/** The seed of a scenario's own sample. */
export const scenarioSeed = (seed: number, scenario: number): number => fnv(`${seed}:${scenario}`) >>> 0;
