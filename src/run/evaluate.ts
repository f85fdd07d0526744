/**
 * An eval from suite to table: plan, run, compare. The same runs, lanes and store as everything else; what is special to
 * evals (templates, transforms, hooks, comparisons) is composed here.
 */
import type { ConfigFiles } from '../config/config-files.ts';
import { referencedCode } from '../config/file-reference.ts';
import { isOn } from '../config/read-config.ts';
import type { Case, PromptCase } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { caseIndex, type RunId } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { LaneEvent } from '../domain/lane.ts';
import type { Row } from '../domain/row.ts';
import type { RunEvent, RunTotals } from '../domain/run-event.ts';
import type { Suite } from '../domain/suite.ts';
import type { GradingPorts } from '../grading/check.ts';
import { looksAtRows } from '../grading/grade.ts';
import { SchemaValidator } from '../grading/json-schema.ts';
import { canonical, providerIdentity } from '../plan/case-key.ts';
import type { EvalColumn } from '../plan/columns.ts';
import type { Clock } from '../platform/clock.ts';
import type { ClosableCodeRunner } from '../platform/code-runner.ts';
import { realFiles } from '../platform/files.ts';
import { createEvalTemplates, type TemplateFilter } from '../prompts/eval-template.ts';
import type { HttpClient } from '../providers/http-client.ts';
import type { RunStore, Store } from '../store/store.ts';
import { type CasedRow, compareRows, laneEffects } from './compare-eval.ts';
import { createHooks } from './eval-hooks.ts';
import { defaultGraders, evalProviders, lanesLimits } from './eval-providers.ts';
import { type EvalRunnerParts, evalRunner } from './eval-runner.ts';
import { type EvalSettings, evalSettings } from './eval-settings.ts';
import { Lanes } from './lanes.ts';
import type { ResponseCache } from './model-call.ts';
import { planEval } from './plan-eval.ts';
import { type RunOutcome, resumeRun, runPlan } from './run-plan.ts';

export interface EvaluateOptions extends EvalSettings {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: ConfigFiles;
  readonly code: ClosableCodeRunner;
  readonly http: HttpClient;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly abortSignal?: AbortSignal;
  readonly responseCache?: ResponseCache;
  readonly observers?: readonly ((event: RunEvent) => void)[];
  /** After each row: how many are done, of how many, the plan's index, its case and its row. */
  readonly progressCallback?: (completed: number, total: number, index: number, row: Row) => void;
  /** Go on with this run instead of starting one. */
  readonly resume?: RunId;
  readonly maxWaitMs?: number;
  readonly budgetUsd?: number;
}

export interface EvalOutcome {
  readonly outcome: RunOutcome;
  readonly columns: readonly EvalColumn[];
  /** After comparisons. */
  readonly totals: RunTotals;
  /** The table, in the plan's order, comparisons included. */
  rows(): AsyncIterable<CasedRow>;
}

/** Filters of the config's author, run where all his code runs. */
function filtersOf(suite: Suite, code: ClosableCodeRunner, signal: AbortSignal): Record<string, TemplateFilter> {
  return Object.fromEntries(
    Object.entries(suite.nunjucksFilters).map(([name, path]) => {
      const target = referencedCode(path, suite.folder);
      const filter: TemplateFilter = async (...args) => {
        if (target === undefined)
          throw new ParlaneError('eval/filter', `The filter "${name}" is no code file: ${path}.`, '', {});
        const outcome = await code.run({ code: target, args: args as Json[] }, { signal });
        if (outcome.kind === 'returned') return outcome.value;
        throw new ParlaneError('eval/filter', `The filter "${name}" failed: ${outcome.message}.`, '', { name });
      };
      return [name, filter];
    }),
  );
}

function gradingPorts(options: Pick<EvaluateOptions, 'http' | 'code'>, render: GradingPorts['render']): GradingPorts {
  const { http, code } = options;
  return {
    render,
    files: realFiles,
    code,
    schemas: new SchemaValidator(),
    async post(url, body, { signal, timeoutMs }) {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', url: new URL(url), headers, body: JSON.stringify(body), timeoutMs };
      const result = await http.send(request, { signal });
      if (result.kind === 'fault')
        throw new ParlaneError('eval/webhook', `${url}: ${result.detail}`, '', { code: result.code });
      return { status: result.status, text: result.text };
    },
  };
}

/** What a run must remember of its suite, without secrets. */
export const snapshotOf = (suite: Suite): Json => ({
  kind: 'eval',
  ...(suite.description === undefined ? {} : { description: suite.description }),
  tags: suite.tags ?? {},
  folder: suite.folder,
  providers: suite.providers.map(providerIdentity),
  prompts: suite.prompts.map(({ raw, label }) => ({ raw, label })),
  defaultTest: canonical(suite.defaultTest as unknown as JsonObject),
  tests: suite.tests.count,
});

/** What the cases of a suite are played with: templates, transforms, hooks, graders. */
export function evalParts(
  suite: Suite,
  options: Pick<EvaluateOptions, 'files' | 'code' | 'http' | 'env'>,
  signal: AbortSignal,
): EvalRunnerParts {
  const { files, code, env } = options;
  const hidden = isOn(env['PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS']);
  const templates = createEvalTemplates({
    env: { ...(hidden ? {} : env), ...suite.env },
    filters: filtersOf(suite, code, signal),
    jsonAsText: isOn(env['PROMPTFOO_DISABLE_JSON_AUTOESCAPE']),
    off: isOn(env['PROMPTFOO_DISABLE_TEMPLATING']),
  });
  return {
    suite,
    rendering: {
      files,
      code,
      templates,
      folder: suite.folder,
      mediaAsText: isOn(env['PROMPTFOO_DISABLE_MULTIMEDIA_AS_BASE64']),
    },
    ports: gradingPorts(options, templates.render),
    code,
    hooks: createHooks(suite.extensions, code, suite.folder),
    defaultGraders: defaultGraders({ ...env, ...suite.env }),
  };
}

/** Runs an eval. Throws a `ParlaneError` when there is nothing to run or a provider cannot be made; nothing was sent then. */
export async function evaluate(suite: Suite, options: EvaluateOptions): Promise<EvalOutcome> {
  const settings = evalSettings(suite, options, options.env);
  const signal = options.abortSignal ?? new AbortController().signal;
  const { store, clock, files, code } = options;
  const plan = await planEval(suite, { files, code, signal, ...settings });
  if (plan.planned === 0 && options.resume === undefined) {
    throw new ParlaneError(
      'eval/no-cases',
      'There is nothing to run: no test is left.',
      'Add tests, or widen the filters.',
    );
  }
  const provider = evalProviders({
    ...options,
    suite,
    ...(settings.delayMs === undefined ? {} : { delayMs: settings.delayMs }),
  });
  // A provider that cannot be made is told before anything is sent.
  for (const { column } of plan.columns) provider(column.provider);
  const parts = evalParts(suite, options, signal);
  const lanes = (onEvent?: (event: LaneEvent) => void): Lanes =>
    new Lanes({
      clock,
      limits: lanesLimits(suite),
      ...(onEvent === undefined ? {} : { onEvent }),
      ...(settings.maxConcurrency === undefined ? {} : { globalCap: settings.maxConcurrency }),
      ...((options.maxWaitMs ?? suite.maxWaitMs) === undefined
        ? {}
        : { maxWaitMs: options.maxWaitMs ?? suite.maxWaitMs ?? 0 }),
    });
  await parts.hooks.around('beforeAll', { suite: snapshotOf(suite) }, signal);
  const watch = options.progressCallback;
  const progress = (event: RunEvent): void => {
    if (event.type === 'case-end') watch?.(event.completed, event.total, event.index, event.row);
  };
  const host = {
    store,
    clock,
    provider,
    lanes: ({ onEvent }: { onEvent: (event: LaneEvent) => void }) => lanes(onEvent),
    runners: { prompt: evalRunner(parts), conversation: refuseConversation },
    observers: [...(options.observers ?? []), progress],
    signal,
    ...(options.responseCache === undefined || settings.cache === false ? {} : { cache: options.responseCache }),
  };
  const budgetUsd = options.budgetUsd ?? suite.budgetUsd;
  const maxWaitMs = options.maxWaitMs ?? suite.maxWaitMs;
  const runSettings = {
    serialize: suite.serialize ?? ('global' as const),
    ...(settings.timeoutMs === undefined ? {} : { timeoutMs: settings.timeoutMs }),
    ...(settings.maxEvalTimeMs === undefined ? {} : { maxDurationMs: settings.maxEvalTimeMs }),
    ...(budgetUsd === undefined ? {} : { budgetUsdMicros: Math.round(budgetUsd * 1_000_000) }),
    ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
  };
  const outcome =
    options.resume === undefined
      ? await runPlan(
          {
            name: suite.description ?? 'eval',
            snapshot: snapshotOf(suite),
            cases: plan.cases(),
            planned: plan.planned,
            traits: plan.traits,
            settings: runSettings,
          },
          host,
        )
      : await resumeRun(options.resume, host, plan.cases());
  await parts.hooks.around('afterAll', { evalId: outcome.run }, signal);
  const run = await store.openRun(outcome.run);
  if (run === undefined)
    throw new ParlaneError('bug/run-lost', `The run ${outcome.run} is gone.`, 'This is a bug in Parlane.');
  const compared =
    plan.compares && outcome.complete
      ? await compareAll(run, parts, provider, lanes(), options, signal)
      : new Map<number, Row>();
  return {
    outcome,
    columns: plan.columns,
    totals: retotalled(outcome.totals, compared, await changedFrom(run, compared)),
    async *rows() {
      for await (const one of casedRows(run)) yield { ...one, row: compared.get(one.row.index) ?? one.row };
    },
  };
}

const refuseConversation = async (): Promise<never> => {
  throw new ParlaneError('eval/conversation', 'A conversation is not part of an eval.', 'Use "parlane run".');
};

const page = 500;

/** Rows with their cases, in the plan's order. */
export async function* casedRows(run: RunStore): AsyncGenerator<CasedRow> {
  let after = -1;
  for (;;) {
    const rows = await run.rows({ after, limit: page });
    if (rows.length === 0) return;
    for (const { row } of rows) {
      const planned: Case | undefined = await run.case(row.index);
      if (planned?.kind === 'prompt') yield { case: planned satisfies PromptCase, row };
      after = row.index;
    }
  }
}

export async function compareAll(
  run: RunStore,
  parts: EvalRunnerParts,
  provider: ReturnType<typeof evalProviders>,
  lanes: Lanes,
  options: Pick<EvaluateOptions, 'clock'>,
  signal: AbortSignal,
): Promise<Map<number, Row>> {
  const changed = new Map<number, Row>();
  const opened = new Set<string>();
  const once = {
    ...bound(lanes),
    open: (one: Parameters<Lanes['open']>[0]): void => {
      if (!opened.has(one.laneKey)) lanes.open(one, []);
      opened.add(one.laneKey);
    },
  };
  for await (const { case: planned, row } of compareRows(casedRows(run), parts, (index) =>
    laneEffects(provider, once, options.clock, index, signal),
  )) {
    if (planned.checks.some(({ type }) => looksAtRows(type))) changed.set(row.index, row);
  }
  lanes.shutdown();
  return changed;
}

const bound = (lanes: Lanes) => ({
  submit: lanes.submit.bind(lanes),
  learned: lanes.learned.bind(lanes),
  abort: lanes.abort.bind(lanes),
  shutdown: lanes.shutdown.bind(lanes),
});

async function changedFrom(run: RunStore, compared: ReadonlyMap<number, Row>): Promise<Map<number, Row>> {
  const before = new Map<number, Row>();
  for (const index of compared.keys()) {
    const [found] = await run.rows({ after: index - 1, limit: 1 });
    if (found !== undefined) before.set(caseIndex(index), found.row);
  }
  return before;
}

const totalName = {
  passed: 'passed',
  failed: 'failed',
  error: 'errors',
  skipped: 'skipped',
  aborted: 'aborted',
} as const;

/** The totals after comparisons have turned some rows over. */
function retotalled(totals: RunTotals, after: ReadonlyMap<number, Row>, before: ReadonlyMap<number, Row>): RunTotals {
  const counts: Record<keyof RunTotals, number> = { ...totals };
  for (const [index, row] of after) {
    const old = before.get(index);
    if (old === undefined || old.status === row.status) continue;
    counts[totalName[old.status]] -= 1;
    counts[totalName[row.status]] += 1;
  }
  return counts;
}
