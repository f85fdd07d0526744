/** What an eval takes from earlier ones: the run to go on with, the flags it was started with, the tests that failed. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ParlaneError } from '../../domain/errors.ts';
import { evalDetail } from '../../domain/eval-case.ts';
import type { RunId } from '../../domain/ids.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { SuiteTest } from '../../domain/suite.ts';
import type { TestFilters } from '../../plan/filter-tests.ts';
import { casedRows } from '../../run/read-run.ts';
import { findRun } from '../../run/run-plan.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { chooseRun, withStore } from '../open-project-store.ts';
import { type EvalFlags, overridesOf, settingsOf } from './eval-options.ts';

/** A run to go on with. */
export interface Continued {
  readonly run: RunId;
  readonly retryErrors: boolean;
  readonly configs: readonly string[];
  /** What it was started with. */
  readonly flags: EvalFlags;
}

/** Flags that say what is to be done now, not what the run is. */
const momentary = new Set<keyof EvalFlags>(['json', 'resume', 'retryErrors', 'store', 'write', 'config', 'verbose']);

/** What a run must remember of its command line to be gone on with by the same. */
export const sourceOf = (configs: readonly string[], flags: EvalFlags, cwd: string): JsonObject => ({
  configs: [...configs],
  overrides: overridesOf(flags, cwd) as unknown as JsonObject,
  settings: JSON.parse(JSON.stringify(settingsOf(flags))) as JsonObject,
  flags: Object.fromEntries(
    Object.entries(flags).filter(([key]) => !momentary.has(key as keyof EvalFlags)),
  ) as JsonObject,
});

interface EvalSource {
  readonly kind?: Json;
  readonly source?: { readonly configs?: readonly string[]; readonly flags?: EvalFlags };
}

/** The configs and flags that a run of `parlane eval` was started with; undefined for other runs. */
function startedWith(snapshot: Json): Pick<Continued, 'configs' | 'flags'> | undefined {
  const { kind, source } = Object(snapshot) as EvalSource;
  return kind === 'eval' ? { configs: source?.configs ?? [], flags: source?.flags ?? {} } : undefined;
}

const contradiction = (what: string): ParlaneError =>
  new ParlaneError('cli/contradiction', `${what} contradict each other.`, 'Leave one of them out.');

async function newestEval(store: Store, fits: (run: RunRecord) => boolean): Promise<RunRecord> {
  for (const record of await store.runs()) {
    if (fits(record) && startedWith(await (await findRun(store, record.id)).snapshot()) !== undefined) return record;
  }
  throw new ParlaneError('run/nothing-to-do', 'No eval of this project waits for that.', 'See "parlane runs".');
}

/** The run that `--resume` or `--retry-errors` means, and how it was started. */
export async function continued(flags: EvalFlags, context: CliContext): Promise<Continued | undefined> {
  const { resume, retryErrors } = flags;
  if (resume === undefined && retryErrors === undefined) return undefined;
  if (resume !== undefined && retryErrors !== undefined) throw contradiction('--resume and --retry-errors');
  const flag = resume === undefined ? '--retry-errors' : '--resume';
  if (flags.write === false) throw contradiction(`${flag} and --no-write`);
  const name = resume ?? retryErrors;
  return withStore(context, flags.store, async (store) => {
    const named = typeof name === 'string' && name !== 'latest' ? name : undefined;
    const waits = ({ status }: RunRecord): boolean => retryErrors !== undefined || status !== 'complete';
    const { id } = named === undefined ? await newestEval(store, waits) : await chooseRun(store, named);
    const start = startedWith(await (await findRun(store, id)).snapshot());
    if (start !== undefined) return { run: id, retryErrors: retryErrors !== undefined, ...start };
    throw new ParlaneError('run/not-an-eval', `The run ${id} is no eval.`, `Use: parlane resume ${id}`, { run: id });
  });
}

type Ending = 'passed' | 'failed' | 'error';
interface EarlierResult {
  readonly ending: Ending;
  readonly vars: JsonObject;
}

const choices = {
  filterFailing: { flag: '--filter-failing', endings: ['failed', 'error'] },
  filterFailingOnly: { flag: '--filter-failing-only', endings: ['failed'] },
  filterErrorsOnly: { flag: '--filter-errors-only', endings: ['error'] },
} as const satisfies Record<string, { flag: string; endings: readonly Ending[] }>;

const endings: readonly Ending[] = ['passed', 'failed', 'error'];

/** A row of an output file; promptfoo's are read as well. */
function resultOf(row: JsonObject): EarlierResult {
  const test = row['testCase'] as JsonObject | undefined;
  const reason = Number(row['failureReason'] ?? 1);
  const vars = (test?.['vars'] ?? row['vars'] ?? {}) as JsonObject;
  return { ending: row['success'] === true ? 'passed' : (endings[reason] ?? 'error'), vars };
}

function resultsIn(path: string, flag: string): EarlierResult[] {
  const text = readFileSync(path, 'utf8');
  try {
    const rows = path.endsWith('.jsonl')
      ? text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as JsonObject]))
      : ((JSON.parse(text) as { results: { results: JsonObject[] } }).results.results as JsonObject[]);
    return rows.map(resultOf);
  } catch {
    const cure = 'It takes a .json or .jsonl file that an eval wrote with -o, or a run.';
    throw new ParlaneError('cli/bad-results', `${flag}: ${path} holds no results of an eval.`, cure, { path });
  }
}

async function resultsOfRun(store: Store, name: string): Promise<EarlierResult[]> {
  const { id } = await chooseRun(store, name);
  const results: EarlierResult[] = [];
  for await (const { case: planned, row } of casedRows(await findRun(store, id))) {
    const ending = row.status === 'passed' || row.status === 'failed' ? row.status : 'error';
    results.push({ ending, vars: evalDetail(planned).test.vars ?? {} });
  }
  return results;
}

/** A test whose var is a list of texts stands for one result per text. */
const sameValue = (written: Json, seen: Json | undefined): boolean =>
  isDeepStrictEqual(written, seen) ||
  (Array.isArray(written) && written.some((one) => isDeepStrictEqual(one, seen))) ||
  // What a file holds is known only after it was loaded.
  (typeof written === 'string' && /^(?:file|package):/.test(written) && seen !== undefined);

function isOf(test: SuiteTest, defaults: SuiteTest, { vars }: EarlierResult): boolean {
  const written: JsonObject = { ...defaults.vars, ...test.vars };
  const names = Object.keys(written);
  const computed = (test.options?.['transformVars'] ?? defaults.options?.['transformVars']) !== undefined;
  return (
    (computed || names.length === Object.keys(vars).length) &&
    names.every((name) => sameValue(written[name] as Json, vars[name]))
  );
}

type Choice = keyof typeof choices;
const named = (flags: EvalFlags): [Choice, string][] =>
  (Object.keys(choices) as Choice[]).flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]]]));

/** The flags with every earlier run by its id: what is "latest" now is another one when this run is gone on with. */
export async function settleEarlier(flags: EvalFlags, context: CliContext): Promise<EvalFlags> {
  const settled: [Choice, string][] = [];
  for (const [key, name] of named(flags)) {
    const known = existsSync(resolve(context.cwd, name));
    const id = known ? name : await withStore(context, flags.store, async (store) => (await chooseRun(store, name)).id);
    settled.push([key, id]);
  }
  return { ...flags, ...Object.fromEntries(settled) };
}

/** The filter of `--filter-failing` and its like; each takes a result file or a run. */
export async function earlierFilter(
  flags: EvalFlags,
  defaults: SuiteTest,
  context: CliContext,
): Promise<Pick<TestFilters, 'earlier'>> {
  const kept: ((test: SuiteTest) => boolean)[] = [];
  for (const [key, name] of named(flags)) {
    const { flag, endings: wanted } = choices[key];
    const path = resolve(context.cwd, name);
    const all = existsSync(path)
      ? resultsIn(path, flag)
      : await withStore(context, flags.store, (store) => resultsOfRun(store, name));
    const results = all.filter(({ ending }) => (wanted as readonly Ending[]).includes(ending));
    kept.push((test) => results.some((result) => isOf(test, defaults, result)));
  }
  return kept.length === 0 ? {} : { earlier: (test) => kept.every((keeps) => keeps(test)) };
}
