/**
 * Runs the example configs of promptfoo that a corpus folder holds, whole, and compares every row with what promptfoo
 * itself answered (`expected/*.json`): same rows, same rendered prompts, same pass, score, failure kind and assertion
 * results. The answers come from a stand-in server that gives the same ones as in promptfoo's own run.
 *
 *   node scripts/compat-evals.ts <corpus folder> <stand-in server program> [part of a config's name]
 *
 * Verdicts of model-graded assertions depend on the wording of the grading prompt; rows with one are compared without it.
 * Without the server's program only loading and rendering are compared. Ends with 1 below 95 % of configs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadSuite } from '../src/config/load-suite.ts';
import { ConfigError } from '../src/config/loading.ts';
import { problemReport } from '../src/config/problem-report.ts';
import type { PromptCase } from '../src/domain/case.ts';
import { evalDetail } from '../src/domain/eval-case.ts';
import type { JsonObject } from '../src/domain/json.ts';
import type { Row } from '../src/domain/row.ts';
import type { Suite } from '../src/domain/suite.ts';
import type { Verdict } from '../src/domain/verdict.ts';
import { factsOf } from '../src/grading/assertion-table.ts';
import { realClock } from '../src/platform/clock.ts';
import { type ClosableCodeRunner, createCodeRunner, scrubbedEnvironment } from '../src/platform/code-runner.ts';
import { configFiles } from '../src/platform/config-files.ts';
import { createEvalTemplates } from '../src/prompts/eval-template.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { evaluate } from '../src/run/evaluate.ts';
import { planEval } from '../src/run/plan-eval.ts';
import { renderCase } from '../src/run/render-case.ts';
import { openStore } from '../src/store/open-store.ts';

interface ExpectedRow {
  testIdx: number;
  promptIdx: number;
  providerId: string;
  promptHash: string;
  success: boolean;
  score: number;
  failureReason: 0 | 1 | 2;
  errorClass?: string;
  asserts?: { type: string; pass: boolean; score: number }[];
}
interface Expected {
  config: string;
  rewrites: {
    env: Record<string, string>;
    set: { path?: string; replace?: string; value: unknown }[];
    redirects: string[];
  };
  rows: ExpectedRow[];
}

const [corpus = '', program = '', only = ''] = process.argv.slice(2);
if (!existsSync(join(corpus, 'index.json'))) {
  console.log(`compat evals: no corpus at ${corpus || '(no folder given)'}; nothing was compared`);
  process.exit(0);
}

const index = JSON.parse(readFileSync(join(corpus, 'index.json'), 'utf8')) as { config: string }[];
const expectations = new Map(
  globSync('expected/*.json', { cwd: corpus }).map((file) => {
    const expected = JSON.parse(readFileSync(join(corpus, file), 'utf8')) as Expected;
    return [expected.config, expected] as const;
  }),
);

async function startServer(): Promise<{ address: string; child?: ChildProcess }> {
  if (!existsSync(program)) return { address: 'http://127.0.0.1:8930' };
  const child = spawn(process.execPath, [program, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise<string>((resolve) => {
    child.stdout?.once('data', (line: Buffer) => resolve(/http:\S+/.exec(String(line))?.[0] ?? ''));
  });
  return { address, child };
}
const server = await startServer();
const mock = server.address;

/** A copy of the example with its addresses pointed at the stand-in server. */
function prepare(config: string, expected: Expected | undefined): { path: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'parlane-compat-'));
  const top = config.split('/')[0] ?? '';
  cpSync(join(corpus, top), join(folder, top), { recursive: true });
  const path = join(folder, config);
  let text = readFileSync(path, 'utf8');
  for (const rewrite of expected?.rewrites.set ?? []) {
    const value = JSON.parse(JSON.stringify(rewrite.value).replaceAll('<mock>', mock)) as unknown;
    if (rewrite.replace !== undefined) text = text.replaceAll(rewrite.replace, String(value));
    else text = stringify(setAt(parse(text, { merge: true }), rewrite.path ?? '', value));
  }
  writeFileSync(path, text);
  return { path, folder };
}

function setAt(root: unknown, path: string, value: unknown): unknown {
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '');
  let node = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) {
    node[key] ??= {};
    node = node[key] as Record<string, unknown>;
  }
  node[keys.at(-1) ?? ''] = value;
  return root;
}

/** Vendors whose address promptfoo has built in; ours follow a variable. */
const vendorVariables: Readonly<Record<string, readonly [string, string]>> = {
  'api.groq.com': ['GROQ_API_BASE_URL', '/openai/v1'],
  'api.x.ai': ['XAI_API_BASE_URL', '/v1'],
  'api.hyperbolic.xyz': ['HYPERBOLIC_API_BASE_URL', '/v1'],
  'api.cometapi.com': ['COMETAPI_API_BASE_URL', '/v1'],
  'router.huggingface.co': ['HF_BASE_URL', ''],
  'api.replicate.com': ['REPLICATE_BASE_URL', ''],
};

function environmentFor(expected: Expected | undefined): Record<string, string | undefined> {
  const given = Object.entries(expected?.rewrites.env ?? {}).map(([key, value]) => [
    key,
    value.replaceAll('<mock>', mock),
  ]);
  const redirected = (expected?.rewrites.redirects ?? []).flatMap((host) => {
    const variable = vendorVariables[host];
    return variable === undefined ? [] : [[variable[0], `${mock}${variable[1]}`]];
  });
  return { ...process.env, ...Object.fromEntries([...given, ...redirected]) };
}

/** promptfoo stores prompts that are JSON without white space; what it sends has two spaces per level. */
function stored(prompt: string): string {
  try {
    const value = JSON.parse(prompt) as unknown;
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : prompt;
  } catch {
    return prompt;
  }
}
const hash = (prompt: string): string => createHash('sha256').update(stored(prompt)).digest('hex');
/** promptfoo reports some ids shorter than they are written. */
const reported = (id: string): string =>
  id
    .replace(/^openai:chat:/, 'openai:')
    .replace(/^cometapi:chat:/, '')
    .replace(mock, '<mock>');

const place = (planned: PromptCase): string => `${evalDetail(planned).testIdx}:${evalDetail(planned).promptIdx}`;

/** Rows, columns and prompts. */
function compareText(planned: PromptCase, row: ExpectedRow | undefined, prompt: string | undefined): string[] {
  if (row === undefined) return [`${place(planned)}: not in promptfoo's table`];
  const { id } = evalDetail(planned).provider;
  const differences = [id, reported(id)].includes(row.providerId)
    ? []
    : [`${place(planned)}: provider ${id}, expected ${row.providerId}`];
  if (prompt === undefined || hash(prompt) !== row.promptHash)
    differences.push(`${place(planned)}: prompt differs: ${JSON.stringify(prompt?.slice(0, 200))}`);
  return differences;
}

const byWording = (type: string): boolean =>
  factsOf(type)?.modelGraded === true || type === 'moderation' || type === 'classifier';

/** Pass, score, failure kind, assertion results. */
function compareVerdict(planned: PromptCase, want: ExpectedRow, row: Row): string[] {
  const at = place(planned);
  if (want.errorClass !== undefined)
    return row.status === 'error' ? [] : [`${at}: ${row.status}, expected an error (${want.errorClass})`];
  if (row.status === 'error') return [`${at}: error: ${row.error?.message ?? ''}`];
  const found = (row.verdict?.componentResults ?? []).filter(({ assertion }) => assertion !== undefined);
  const differences = (want.asserts ?? []).flatMap((expected, position) =>
    compareAssertion(at, expected, found[position], position),
  );
  const flat = planned.checks.flatMap((one) => (one.type === 'assert-set' ? (one.assert ?? []) : [one]));
  if (flat.some(({ type }) => byWording(type))) return differences;
  const kind = row.status === 'passed' ? 0 : 1;
  const same =
    (row.status === 'passed') === want.success &&
    Math.abs((row.score ?? 0) - want.score) < 1e-5 &&
    kind === want.failureReason;
  return same
    ? differences
    : [...differences, `${at}: ${row.status}/${row.score}, expected ${want.success}/${want.score}`];
}

function compareAssertion(
  at: string,
  want: { type: string; pass: boolean; score: number },
  got: Verdict | undefined,
  position: number,
): string[] {
  if (byWording(want.type)) return [];
  if (got?.assertion?.type !== want.type)
    return [`${at}[${position}]: ${got?.assertion?.type ?? 'nothing'} instead of ${want.type}`];
  const same = got.pass === want.pass && Math.abs(got.score - want.score) < 1e-5;
  return same
    ? []
    : [
        `${at}[${position}] ${want.type}: ${got.pass}/${got.score}, expected ${want.pass}/${want.score} (${got.reason})`,
      ];
}

interface Bench {
  readonly suite: Suite;
  readonly env: Record<string, string | undefined>;
  readonly code: ClosableCodeRunner;
}

async function renderOnly({ suite, env, code }: Bench, wanted: Map<string, ExpectedRow>): Promise<string[]> {
  const { signal } = new AbortController();
  const templates = createEvalTemplates({ env: { ...env, ...suite.env } });
  const differences: string[] = [];
  for await (const planned of (await planEval(suite, { files: configFiles, code, signal })).cases()) {
    const { prompt } = await renderCase(planned, {}, [], {
      files: configFiles,
      code,
      templates,
      folder: suite.folder,
      signal,
    });
    differences.push(...compareText(planned, wanted.get(place(planned)), prompt));
    wanted.delete(place(planned));
  }
  return differences;
}

async function runWhole({ suite, env, code }: Bench, wanted: Map<string, ExpectedRow>): Promise<string[]> {
  const http = createHttpClient({ clock: realClock });
  const store = await openStore({ at: ':memory:' });
  const differences: string[] = [];
  try {
    const result = await evaluate(suite, {
      store,
      clock: realClock,
      files: configFiles,
      code,
      http,
      env,
      maxConcurrency: 1,
    });
    for await (const { case: planned, row } of result.rows()) {
      const want = wanted.get(place(planned));
      wanted.delete(place(planned));
      const prompt = (row.detail as JsonObject | undefined)?.['prompt'];
      differences.push(...compareText(planned, want, typeof prompt === 'string' ? prompt : undefined));
      if (want !== undefined) differences.push(...compareVerdict(planned, want, row));
    }
  } finally {
    await store.close();
    await http.close();
  }
  return differences;
}

async function compareOne(config: string): Promise<string[]> {
  const expected = expectations.get(config);
  const { path, folder } = prepare(config, expected);
  const env = environmentFor(expected);
  const code = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: dirname(path) });
  try {
    const { suite, warnings } = await loadSuite({ files: configFiles, code, env, cwd: folder, configs: [path] });
    const notes = warnings
      .filter(({ message }) => !message.startsWith('there is no assertion'))
      .map((problem) => `warned: ${problemReport([problem])}`);
    if (expected === undefined) return notes;
    const wanted = new Map(expected.rows.map((row) => [`${row.testIdx}:${row.promptIdx}`, row]));
    const bench = { suite, env, code };
    const differences = await (server.child === undefined ? renderOnly(bench, wanted) : runWhole(bench, wanted));
    return [...notes, ...differences, ...[...wanted.keys()].map((at) => `${at}: missing`)];
  } catch (error) {
    return [error instanceof ConfigError ? problemReport(error.problems) : String((error as Error).stack)];
  } finally {
    await code.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Share of configs that must agree in every row. */
const leastShare = 0.95;

let equal = 0;
const configs = index.map(({ config }) => config).filter((config) => config.includes(only));
for (const config of configs) {
  const differences = await compareOne(config);
  if (differences.length === 0) equal += 1;
  else {
    const lines = differences.slice(0, 6).map((text) => `  ${text.replaceAll('\n', '\n  ')}`);
    console.log([config, ...lines].join('\n'));
  }
}
const what =
  server.child === undefined ? 'load and render as promptfoo does' : 'load, run and are graded as by promptfoo';
console.log(`compat evals: ${equal} of ${configs.length} configs ${what}`);
server.child?.kill();
process.exit(equal >= leastShare * configs.length ? 0 : 1);
