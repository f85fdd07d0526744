/**
 * Extension hooks: code of the config's author around cases and runs. A name that is a hook's own (`file://x.js:beforeEach`)
 * runs for that hook with `(context, {hookName})`; any other name runs for all of them with `(hookName, context)`.
 */
import { referencedCode } from '../config/file-reference.ts';
import type { CodeRunner } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { EvalDetail } from '../domain/eval-case.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Reply } from '../domain/reply.ts';
import type { SuiteTest } from '../domain/suite.ts';
import type { Verdict } from '../domain/verdict.ts';

type HookName = 'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll';

export interface Graded {
  readonly prompt: string;
  readonly vars: JsonObject;
  readonly verdict: Verdict;
  readonly output: Json;
  readonly reply: Reply;
}

export interface EvalHooks {
  /** May change the test. */
  beforeEach(detail: EvalDetail, signal: AbortSignal): Promise<EvalDetail>;
  /** May add named scores and metadata. */
  afterEach(
    detail: EvalDetail,
    graded: Graded,
    signal: AbortSignal,
  ): Promise<{ verdict: Verdict; metadata?: JsonObject; responseMetadata?: JsonObject }>;
  /** There is a hook of this name, so what it is shown must be made. */
  wants(name: HookName): boolean;
  /** Before the plan is made: gets the suite as data and gives back what has become of it. */
  beforeAll(suite: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** After the last case; what it returns is not used. */
  afterAll(context: JsonObject, signal: AbortSignal): Promise<void>;
}

const hookNames = new Set<string>(['beforeAll', 'beforeEach', 'afterEach', 'afterAll']);

export function createHooks(extensions: readonly string[], code: CodeRunner, folder: string): EvalHooks {
  const run = async (
    name: HookName,
    start: JsonObject,
    signal: AbortSignal,
    take: (returned: JsonObject) => JsonObject,
  ): Promise<JsonObject> => {
    let context = start;
    for (const extension of extensions) {
      const target = referencedCode(extension, folder, 'extension_hook');
      if (target === undefined || target.kind !== 'file') {
        throw new ParlaneError(
          'eval/extension',
          `The extension ${extension} is no code file.`,
          'It looks like file://hooks.js:beforeEach.',
          {},
        );
      }
      const own = target.functionName !== undefined && hookNames.has(target.functionName);
      if (own && target.functionName !== name) continue;
      const args: Json[] = own ? [context, { hookName: name }] : [name, context];
      const outcome = await code.run({ code: target, args }, { signal });
      if (outcome.kind !== 'returned') {
        throw new ParlaneError(
          'eval/extension',
          `The hook ${name} of ${extension} failed: ${outcome.message}.`,
          '',
          {},
        );
      }
      if (isObject(outcome.value)) context = { ...context, ...take(outcome.value as JsonObject) };
    }
    return context;
  };
  if (extensions.length === 0) return noHooks;
  return {
    async beforeEach(detail, signal) {
      const { test } = await run('beforeEach', { test: detail.test as unknown as Json }, signal, ({ test: changed }) =>
        isObject(changed) ? { test: changed } : {},
      );
      return { ...detail, test: test as unknown as SuiteTest };
    },
    async afterEach(detail, { prompt, vars, verdict, output, reply }, signal) {
      const { testIdx, promptIdx, promptId, provider } = detail;
      const result: JsonObject = {
        testIdx,
        promptIdx,
        promptId,
        provider: { id: provider.id, label: provider.label ?? '' },
        prompt: { raw: prompt, label: detail.prompt.label },
        vars,
        success: verdict.pass,
        score: verdict.score,
        namedScores: { ...verdict.namedScores },
        metadata: {},
        response: { output, metadata: { ...reply.metadata } },
        gradingResult: verdict as unknown as Json,
      };
      const context = { test: detail.test as unknown as Json, result };
      const changed = await run('afterEach', context, signal, ({ result: said }) =>
        isObject(said) ? { result: { ...result, ...said } } : {},
      );
      const said = changed['result'] as JsonObject;
      const scores = Object.entries(isObject(said['namedScores']) ? said['namedScores'] : {}).filter(
        (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
      );
      const metadata = isObject(said['metadata']) ? said['metadata'] : {};
      const response = isObject(said['response']) ? said['response'] : {};
      return {
        verdict:
          scores.length === 0
            ? verdict
            : { ...verdict, namedScores: { ...verdict.namedScores, ...Object.fromEntries(scores) } },
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        ...(isObject(response['metadata']) ? { responseMetadata: response['metadata'] } : {}),
      };
    },
    wants: (name) =>
      extensions.some((extension) => {
        const target = referencedCode(extension, folder);
        const named = target?.kind === 'file' ? target.functionName : undefined;
        return named === undefined || !hookNames.has(named) || named === name;
      }),
    async beforeAll(suite, signal) {
      const changed = await run('beforeAll', { suite }, signal, ({ suite: said }) =>
        isObject(said) ? { suite: said } : {},
      );
      return changed['suite'] as JsonObject;
    },
    afterAll: async (context, signal) => void (await run('afterAll', context, signal, () => ({}))),
  };
}

const noHooks: EvalHooks = {
  beforeEach: async (detail) => detail,
  afterEach: async (_detail, { verdict }) => ({ verdict }),
  wants: () => false,
  beforeAll: async (suite) => suite,
  afterAll: async () => undefined,
};
