/** The parts of an eval put together: providers, lanes, templates, hooks, grading. `evaluate` and a resume use the same. */
import type { ConfigFiles } from '../config/config-files.ts';
import { referencedCode } from '../config/file-reference.ts';
import { isOn } from '../config/read-config.ts';
import type { CodeRunner } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { LaneEvent } from '../domain/lane.ts';
import type { Provider } from '../domain/provider.ts';
import type { Suite } from '../domain/suite.ts';
import type { GradingPorts } from '../grading/check.ts';
import { SchemaValidator } from '../grading/json-schema.ts';
import { canonical } from '../plan/case-key.ts';
import type { Clock } from '../platform/clock.ts';
import type { ClosableCodeRunner } from '../platform/code-runner.ts';
import { realFiles } from '../platform/files.ts';
import { createEvalTemplates, type TemplateFilter } from '../prompts/eval-template.ts';
import type { HttpClient } from '../providers/http-client.ts';
import type { Store } from '../store/store.ts';
import type { CaseRunners } from './case-runner.ts';
import { type ReplayedTool, refuseMissingRecordings, replayedJson } from './check-recordings.ts';
import { templateSwitches } from './check-templates.ts';
import { rowComparer } from './compare-eval.ts';
import { waitOn } from './conversation-host.ts';
import { createHooks } from './eval-hooks.ts';
import { defaultGraders, evalProviders, hasGraderKey, lanesLimits } from './eval-providers.ts';
import { type EvalRunnerParts, evalRunner } from './eval-runner.ts';
import { type EvalSettings, evalSettings } from './eval-settings.ts';
import type { InProcessFunctions } from './in-process.ts';
import { Lanes } from './lanes.ts';
import { type EvalPlan, planEval } from './plan-eval.ts';
import { gradersOf } from './planned-assertions.ts';
import { Recordings } from './recorded-tools.ts';
import { graderFaults, refuseAssertions } from './refuse-assertions.ts';
import { suiteJson } from './suite-snapshot.ts';
import { toolHttp } from './tool-http.ts';

export interface OpenEvalOptions extends EvalSettings {
  readonly clock: Clock;
  readonly files: ConfigFiles;
  readonly code: ClosableCodeRunner;
  readonly http: HttpClient;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly abortSignal?: AbortSignal;
  /** Functions of the program that stand in the suite by name. */
  readonly functions?: InProcessFunctions;
  readonly maxWaitMs?: number;
  /** Where tools of simulated conversations find the answers of earlier runs. */
  readonly store?: Store;
}

export interface OpenEval {
  readonly plan: EvalPlan;
  readonly settings: EvalSettings;
  readonly parts: EvalRunnerParts;
  readonly runners: CaseRunners;
  readonly maxWaitMs: number | undefined;
  provider(name: string): Provider;
  lanes(options: { readonly onEvent?: (event: LaneEvent) => void }): Lanes;
}

/** Filters of the config's author, run where all his code runs. */
function filtersOf(suite: Suite, code: CodeRunner, signal: AbortSignal): Record<string, TemplateFilter> {
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

function gradingPorts(
  options: { readonly http: HttpClient; readonly code: CodeRunner },
  render: GradingPorts['render'],
): GradingPorts {
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
export const snapshotOf = (suite: Suite, source: JsonObject = {}, replayed: readonly ReplayedTool[] = []): Json => ({
  kind: 'eval',
  source: canonical(source),
  suite: suiteJson(suite),
  tests: suite.tests.count,
  ...replayedJson(replayed),
});

/** Puts an eval together. Throws when a provider of it cannot be made; nothing was sent then. */
export async function openEval(suite: Suite, options: OpenEvalOptions): Promise<OpenEval> {
  const settings = evalSettings(suite, options, options.env);
  const signal = options.abortSignal ?? new AbortController().signal;
  const { clock, files, code } = options;
  const plan = await planEval(suite, { files, code, signal, ...settings });
  const recordings = options.store === undefined ? undefined : new Recordings(options.store);
  await refuseMissingRecordings(plan.replayed, recordings, 'The simulated conversations of this eval');
  const delay = settings.delayMs === undefined ? {} : { delayMs: settings.delayMs };
  const provider = evalProviders({ ...options, suite, ...delay });
  for (const { column } of plan.columns) provider(column.provider);
  const graders = defaultGraders({ ...options.env, ...suite.env });
  refuseAssertions(graderFaults(gradersOf(plan.assertions), graders, provider));
  const parts = evalParts(suite, options, signal);
  const maxWaitMs = options.maxWaitMs ?? suite.maxWaitMs;
  return {
    plan,
    settings,
    parts,
    provider,
    maxWaitMs,
    runners: { prompt: evalRunner(parts), conversation: refuseConversation, compare: rowComparer(parts) },
    lanes: ({ onEvent }) =>
      new Lanes({
        clock,
        limits: lanesLimits(suite),
        ...(onEvent === undefined ? {} : { onEvent }),
        ...(settings.maxConcurrency === undefined ? {} : { globalCap: settings.maxConcurrency }),
        ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
      }),
  };
}

/** A case's time limit is also one for each piece of its code; nothing waits for code that a case could not use any more. */
const codeWithin = (code: CodeRunner, limitMs: number | undefined): CodeRunner =>
  limitMs === undefined
    ? code
    : {
        run: (call, options) => code.run({ ...call, timeoutMs: Math.min(call.timeoutMs ?? limitMs, limitMs) }, options),
      };

/** What the cases of a suite are played with: templates, transforms, hooks, graders. */
export function evalParts(
  suite: Suite,
  options: Pick<OpenEvalOptions, 'clock' | 'files' | 'code' | 'http' | 'env' | 'timeoutMs' | 'store'>,
  signal: AbortSignal,
): EvalRunnerParts {
  const { files, env } = options;
  const { timeoutMs } = evalSettings(suite, options.timeoutMs === undefined ? {} : options, env);
  const code = codeWithin(options.code, timeoutMs);
  const hidden = isOn(env['PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS']);
  const templates = createEvalTemplates({
    env: { ...(hidden ? {} : env), ...suite.env },
    filters: filtersOf(suite, code, signal),
    ...templateSwitches(env),
  });
  const mediaAsText = isOn(env['PROMPTFOO_DISABLE_MULTIMEDIA_AS_BASE64']);
  return {
    suite,
    rendering: { files, code, templates, folder: suite.folder, mediaAsText },
    ports: gradingPorts({ ...options, code }, templates.render),
    code,
    hooks: createHooks(suite.extensions, code, suite.folder),
    defaultGraders: defaultGraders({ ...env, ...suite.env }),
    asking: {
      folder: suite.folder,
      templates,
      conversations: { http: toolHttp(options.http), code, wait: waitOn(options.clock) },
      ...(options.store === undefined ? {} : { recordings: new Recordings(options.store) }),
      ...(hasGraderKey({ ...env, ...suite.env }) ? { person: defaultGraders({ ...env, ...suite.env }).text } : {}),
    },
  };
}

const refuseConversation = async (): Promise<never> => {
  throw new ParlaneError('eval/conversation', 'A conversation is not part of an eval.', 'Use "parlane run".');
};
