/**
 * Grades the answers of promptfoo's example configs and compares every verdict with what promptfoo itself said
 * (`expected/*.json`). The answers come from a stand-in server that gives the same ones as in promptfoo's own run.
 *
 *   node scripts/compat-grading.ts <corpus folder> <stand-in server program> [part of a config's name]
 *
 * Verdicts of model-graded assertions depend on the wording of the grading prompt; rows with one are compared without it.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadSuite } from '../src/config/load-suite.ts';
import type { PromptCase } from '../src/domain/case.ts';
import type { Effects } from '../src/domain/effects.ts';
import { evalDetail } from '../src/domain/eval-case.ts';
import type { Json, JsonObject } from '../src/domain/json.ts';
import type { Provider } from '../src/domain/provider.ts';
import type { Outcome } from '../src/domain/reply.ts';
import type { Suite } from '../src/domain/suite.ts';
import type { Assertion, Verdict } from '../src/domain/verdict.ts';
import { factsOf } from '../src/grading/assertion-table.ts';
import { transformContext } from '../src/grading/code-context.ts';
import { maxScore, selectBest, withComparison } from '../src/grading/compare-rows.ts';
import { type GradeOptions, grade } from '../src/grading/grade.ts';
import { SchemaValidator } from '../src/grading/json-schema.ts';
import { replyFacts } from '../src/grading/reply-facts.ts';
import { runTransform } from '../src/grading/user-code.ts';
import { realClock } from '../src/platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../src/platform/code-runner.ts';
import { configFiles } from '../src/platform/config-files.ts';
import { realFiles } from '../src/platform/files.ts';
import { createEvalTemplates } from '../src/prompts/eval-template.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { resolveProvider } from '../src/providers/resolve-provider.ts';
import { planEval } from '../src/run/plan-eval.ts';
import { type Exchange, exchangeOf, renderCase } from '../src/run/render-case.ts';

interface ExpectedRow {
  testIdx: number;
  promptIdx: number;
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

const [corpus, mockProgram, only = ''] = process.argv.slice(2);
if (
  corpus === undefined ||
  mockProgram === undefined ||
  !existsSync(join(corpus, 'expected')) ||
  !existsSync(mockProgram)
) {
  console.log('compat grading: no corpus or no stand-in server at the given paths; nothing was compared');
  process.exit(0);
}

const mockServer = spawn(process.execPath, [mockProgram, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const mock = await new Promise<string>((resolve) => {
  mockServer.stdout.once('data', (line: Buffer) => resolve(/http:\S+/.exec(String(line))?.[0] ?? ''));
});

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

/** A copy of the example with its addresses pointed at the stand-in server. */
function prepare(expected: Expected): { path: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'parlane-compat-'));
  const top = expected.config.split('/')[0] ?? '';
  cpSync(join(corpus ?? '', top), join(folder, top), { recursive: true });
  const path = join(folder, expected.config);
  let text = readFileSync(path, 'utf8');
  for (const rewrite of expected.rewrites.set) {
    const value = JSON.parse(JSON.stringify(rewrite.value).replaceAll('<mock>', mock)) as unknown;
    if (rewrite.replace !== undefined) text = text.replaceAll(rewrite.replace, String(value));
    else text = stringify(setAt(parse(text, { merge: true }), rewrite.path ?? '', value));
  }
  writeFileSync(path, text);
  return { path, folder };
}

/** Vendors whose address promptfoo has built in; ours follow a variable. */
const vendorVariables: Readonly<Record<string, readonly string[]>> = {
  'api.groq.com': ['GROQ_API_BASE_URL', '/openai/v1'],
  'api.x.ai': ['XAI_API_BASE_URL', '/v1'],
  'api.hyperbolic.xyz': ['HYPERBOLIC_API_BASE_URL', '/v1'],
  'api.moonshot.ai': ['MOONSHOT_API_BASE_URL', '/v1'],
  'api.cometapi.com': ['COMETAPI_API_BASE_URL', '/v1'],
  'integrate.api.nvidia.com': ['NVIDIA_API_BASE_URL', '/v1'],
  'api.atlascloud.ai': ['ATLASCLOUD_API_BASE_URL', '/v1'],
};

function environmentFor({ rewrites }: Expected): Record<string, string | undefined> {
  const given = Object.entries(rewrites.env).map(([key, value]) => [key, value.replaceAll('<mock>', mock)]);
  const redirected = rewrites.redirects.map((host) => {
    const [name, path] = vendorVariables[host] ?? [`${host}?`, ''];
    return [name, `${mock}${path}`];
  });
  return { ...process.env, ...Object.fromEntries([...given, ...redirected]) };
}

const times = { startedAt: 0, endedAt: 0, queueMs: 0, backoffMs: 0, latencyMs: 1, attempts: 1 };

interface Bench {
  readonly suite: Suite;
  readonly effects: Effects;
  readonly options: (assertions: JsonObject) => GradeOptions;
  readonly ask: (planned: PromptCase, prompt: string, params: JsonObject, vars: JsonObject) => Promise<Outcome>;
  readonly transform: (code: string, output: Json, vars: JsonObject, metadata: JsonObject | undefined) => Promise<Json>;
}

interface Result {
  readonly row: ExpectedRow;
  readonly output: Json;
  readonly vars: JsonObject;
  readonly assertions: readonly Assertion[];
  readonly options: GradeOptions;
  verdict: Verdict;
}

const isModelGraded = (type: string): boolean => factsOf(type)?.modelGraded === true;
const byWording = new Set(['moderation', 'classifier']);

function differencesOf({ row, verdict, assertions }: Result): string[] {
  const place = `${row.testIdx}:${row.promptIdx}`;
  const kind = verdict.error !== undefined ? 2 : verdict.pass ? 0 : 1;
  if (row.errorClass !== undefined) return kind === 2 ? [] : [`${place}: expected an error (${row.errorClass})`];
  if (verdict.error !== undefined) return [`${place}: error: ${verdict.error}`];
  const found = (verdict.componentResults ?? []).filter(({ assertion }) => assertion !== undefined);
  const differences = (row.asserts ?? []).flatMap((want, at) => {
    const got = found[at];
    if (isModelGraded(want.type) || byWording.has(want.type)) return [];
    if (got?.assertion?.type !== want.type)
      return [`${place}[${at}]: ${got?.assertion?.type ?? 'nothing'} instead of ${want.type}`];
    const same = got.pass === want.pass && Math.abs(got.score - want.score) < 1e-5;
    return same
      ? []
      : [`${place}[${at}] ${want.type}: ${got.pass}/${got.score}, expected ${want.pass}/${want.score} (${got.reason})`];
  });
  const flat = assertions.flatMap((one) => (one.type === 'assert-set' ? (one.assert ?? []) : [one]));
  if (flat.some(({ type }) => isModelGraded(type) || byWording.has(type))) return differences;
  const same = verdict.pass === row.success && Math.abs(verdict.score - row.score) < 1e-5 && kind === row.failureReason;
  return same
    ? differences
    : [...differences, `${place}: ${verdict.pass}/${verdict.score}, expected ${row.success}/${row.score}`];
}

async function gradeRow(
  planned: PromptCase,
  row: ExpectedRow,
  prompt: string,
  vars: JsonObject,
  params: JsonObject,
  bench: Bench,
): Promise<Result> {
  const detail = evalDetail(planned);
  const assertions = planned.checks;
  const options = {
    ...bench.options((detail.test.options ?? {}) as JsonObject),
    ...(planned.threshold === undefined ? {} : { threshold: planned.threshold }),
  };
  const result = (output: Json, verdict: Verdict): Result => ({ row, output, vars, assertions, options, verdict });
  const failed = (why: string): Result => result(null, { pass: false, score: 0, reason: why, error: why });
  const outcome = await bench.ask(planned, prompt, params, vars);
  if (outcome.kind === 'failure') return failed(outcome.message);
  let output = outcome.output;
  const transforms = [
    detail.provider.transform,
    detail.test.options?.['transform'] ?? detail.test.options?.['postprocess'],
  ];
  try {
    for (const code of transforms)
      if (typeof code === 'string') output = await bench.transform(code, output, vars, outcome.metadata);
  } catch (error) {
    return failed((error as Error).message);
  }
  const provider = bench.suite.providers.find(({ name }) => name === planned.column.provider);
  const { id, label, config } = provider ?? { id: planned.column.provider };
  const subject = {
    output,
    prompt,
    vars,
    reply: replyFacts(outcome, 1),
    provider: { id, ...(label === undefined ? {} : { label }), config: { ...config, ...params } },
    test: detail.test as unknown as JsonObject,
    providerOutput: outcome.output,
  };
  return result(output, await grade(assertions, subject, bench.effects, options));
}

async function compareRows(results: readonly Result[], bench: Bench): Promise<void> {
  const tests = Map.groupBy(results, ({ row }) => row.testIdx);
  for (const rows of tests.values()) {
    const [first] = rows;
    const assertion = first?.assertions.find(({ type }) => type === 'select-best' || type === 'max-score');
    if (first === undefined || assertion === undefined) continue;
    const verdicts =
      assertion.type === 'max-score'
        ? maxScore(assertion, rows)
        : await selectBest(
            assertion,
            rows,
            first.vars,
            first.assertions.indexOf(assertion),
            bench.effects,
            first.options,
          );
    rows.forEach((row, at) => {
      const comparison = verdicts[at];
      if (comparison !== undefined) row.verdict = withComparison(row.verdict, comparison);
    });
  }
}

async function compareOne(expected: Expected): Promise<{ differences: string[]; rows: number }> {
  const { path, folder } = prepare(expected);
  const env = environmentFor(expected);
  const code = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: dirname(path) });
  const http = createHttpClient({ clock: realClock });
  const { signal } = new AbortController();
  try {
    const { suite } = await loadSuite({ files: configFiles, code, env, cwd: folder, configs: [path] });
    const templates = createEvalTemplates({ env: { ...env, ...suite.env } });
    const context = { clock: realClock, env: { ...env, ...suite.env }, basePath: suite.folder, http, code };
    const made = new Map<string, Provider>();
    const providerOf = (name: string): Provider => {
      const known = made.get(name);
      if (known !== undefined) return known;
      const written = suite.providers.find((one) => one.name === name || one.id === name || one.label === name);
      const definition = name.startsWith('{') ? (JSON.parse(name) as { id: string }) : (written ?? { id: name });
      const provider = resolveProvider(definition as Parameters<typeof resolveProvider>[0], context);
      made.set(name, provider);
      return provider;
    };
    const effects: Effects = {
      signal,
      model: async (_path, { provider, request }) => ({
        value: await providerOf(provider).call(request, { signal }),
        times,
        replayed: false,
      }),
      perform: async (_kind, step, _request, effect) => ({
        value: await effect({ signal, idempotencyKey: step }),
        times,
        replayed: false,
      }),
      now: async () => 0,
      uuid: async () => 'compat',
    };
    const ports = {
      render: templates.render,
      files: realFiles,
      code,
      schemas: new SchemaValidator(),
      post: async () => {
        throw new Error('no network here');
      },
    };
    const bench: Bench = {
      suite,
      effects,
      options: ({ provider, rubricPrompt, factuality }) => ({
        baseDir: suite.folder,
        ports,
        grading: {
          ...(provider === undefined ? {} : { provider }),
          ...(rubricPrompt === undefined ? {} : { rubricPrompt }),
          ...(factuality === undefined ? {} : { factuality: factuality as JsonObject }),
        },
        defaultGraders: {
          text: 'openai:gpt-4.1',
          embedding: 'openai:embedding:text-embedding-3-large',
          moderation: 'openai:moderation',
        },
      }),
      ask: async (planned, prompt, params, vars) => {
        const given = (evalDetail(planned).test as { providerOutput?: Json }).providerOutput;
        const request = { kind: 'chat', prompt, params, context: { vars } } as const;
        if (given === undefined) return providerOf(planned.column.provider).call(request, { signal });
        return {
          kind: 'reply',
          text: String(given),
          output: given,
          toolCalls: [],
          finishReason: 'stop',
          status: 200,
          raw: '',
          flags: [],
          cached: false,
        };
      },
      transform: async (transform, output, vars, metadata) => {
        const around = transformContext({ output, vars, reply: metadata === undefined ? {} : { metadata } });
        const outcome = await runTransform(transform, output, around, { baseDir: suite.folder, code, signal });
        if (outcome.kind !== 'returned') throw new Error(outcome.message);
        if (outcome.value === undefined || outcome.value === null) throw new Error('the transform returned nothing');
        return outcome.value as Json;
      },
    };
    const plan = await planEval(suite, { files: configFiles, code, signal });
    const wanted = new Map(expected.rows.map((row) => [`${row.testIdx}:${row.promptIdx}`, row]));
    const histories = new Map<string, Exchange[]>();
    const registers = new Map<number, Record<string, Json>>();
    const results: Result[] = [];
    for await (const planned of plan.cases()) {
      const detail = evalDetail(planned);
      const row = wanted.get(`${detail.testIdx}:${detail.promptIdx}`);
      if (row === undefined) continue;
      const history = histories.get(planned.conversationKey ?? '') ?? [];
      const kept = registers.get(planned.column.position) ?? {};
      const rendered = await renderCase(planned, kept, history, {
        files: configFiles,
        code,
        templates,
        folder: suite.folder,
        signal,
      });
      const { provider: _p, rubricPrompt: _r, ...params } = rendered.promptConfig;
      const result = await gradeRow(planned, row, rendered.prompt, rendered.vars, params, bench);
      results.push(result);
      if (planned.conversationKey !== undefined)
        histories.set(planned.conversationKey, [...history, exchangeOf(rendered.prompt, result.output, undefined)]);
      if (planned.storeAs !== undefined && result.output)
        registers.set(planned.column.position, { ...kept, [planned.storeAs]: result.output });
    }
    await compareRows(results, bench);
    return { differences: results.flatMap(differencesOf), rows: results.length };
  } catch (error) {
    return { differences: [String((error as Error).stack ?? error)], rows: 0 };
  } finally {
    await code.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

let equal = 0;
let rows = 0;
let differing = 0;
const files = globSync('expected/*.json', { cwd: corpus }).sort();
const all = files
  .map((file) => JSON.parse(readFileSync(join(corpus, file), 'utf8')) as Expected)
  .filter(({ config }) => config.includes(only));
for (const expected of all) {
  const { differences, rows: counted } = await compareOne(expected);
  rows += counted;
  differing += new Set(differences.map((text) => text.split(/[[ :]/).slice(0, 2).join(':'))).size;
  if (differences.length === 0) equal += 1;
  else
    console.log(
      `${expected.config}\n${differences
        .slice(0, 6)
        .map((text) => `  ${text.replaceAll('\n', '\n  ')}`)
        .join('\n')}`,
    );
}
console.log(
  `compat grading: ${equal} of ${all.length} configs graded as promptfoo does, ${rows - differing} of ${rows} rows`,
);
mockServer.kill();
process.exit(0);
