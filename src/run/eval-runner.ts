/**
 * Job: one case of an eval, from its templates to its verdict: hooks, rendering, the call, transforms, grading.
 * Not its job: order between cases, retries, time limits (the run's), comparisons between rows (`compare-eval.ts`).
 *
 * 1. An assertion of an unknown type makes the row an error, and nothing is paid for it.
 * 2. What the model said is data from the moment it arrives: it is transformed and graded, never rendered.
 * 3. Code of the config's author that fails makes this row an error, with the author's own message.
 */
import type { PromptCase } from '../domain/case.ts';
import type { CodeRunner } from '../domain/code-runner.ts';
import { type EvalDetail, evalDetail } from '../domain/eval-case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Reply } from '../domain/reply.ts';
import type { Suite } from '../domain/suite.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { GradingPorts } from '../grading/check.ts';
import { unknownTypeError } from '../grading/check-assertions.ts';
import { transformContext } from '../grading/code-context.ts';
import { type GradeOptions, grade } from '../grading/grade.ts';
import type { DefaultGraders } from '../grading/graders/grader-provider.ts';
import { replyFacts } from '../grading/reply-facts.ts';
import { runTransform } from '../grading/user-code.ts';
import { providerIdentity } from '../plan/case-key.ts';
import { type AskParts, askCase } from './ask-case.ts';
import type { CaseContext, CaseResult, CaseRunners } from './case-runner.ts';
import type { EvalHooks } from './eval-hooks.ts';
import { type Exchange, exchangeOf, type RenderedCase, type Rendering, renderCase } from './render-case.ts';

export interface EvalRunnerParts {
  readonly suite: Suite;
  readonly rendering: Omit<Rendering, 'signal'>;
  readonly ports: GradingPorts;
  readonly code: CodeRunner;
  readonly hooks: EvalHooks;
  readonly defaultGraders: DefaultGraders;
  readonly asking: AskParts;
}

class RowError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What grading needs to know about a test's options. */
export function gradeOptions(detail: EvalDetail, parts: EvalRunnerParts, repeat = 0): GradeOptions {
  const { provider, rubricPrompt, factuality } = (detail.test.options ?? {}) as JsonObject;
  return {
    baseDir: parts.suite.folder,
    ports: parts.ports,
    grading: {
      ...(provider === undefined ? {} : { provider }),
      ...(rubricPrompt === undefined ? {} : { rubricPrompt }),
      ...(factuality === undefined ? {} : { factuality: factuality as JsonObject }),
    },
    defaultGraders: parts.defaultGraders,
    ...(detail.test.threshold === undefined ? {} : { threshold: detail.test.threshold }),
    ...(detail.test.assertScoringFunction === undefined ? {} : { scoringFunction: detail.test.assertScoringFunction }),
    ...(repeat === 0 ? {} : { repeatIndex: repeat }),
  };
}

async function transformed(
  output: Json,
  reply: Reply,
  detail: EvalDetail,
  vars: JsonObject,
  parts: EvalRunnerParts,
  signal: AbortSignal,
): Promise<Json> {
  const own = detail.test.options?.['transform'] ?? detail.test.options?.['postprocess'];
  let current = output;
  for (const code of [detail.provider.transform, own]) {
    if (typeof code !== 'string' || code === '') continue;
    const context = transformContext({
      output: current,
      vars,
      prompt: detail.prompt.label,
      reply: reply.metadata === undefined ? {} : { metadata: reply.metadata },
    });
    const outcome = await runTransform(code, current, context, {
      baseDir: parts.suite.folder,
      code: parts.code,
      signal,
    });
    if (outcome.kind !== 'returned') throw new RowError('transform', `The transform failed: ${outcome.message}`);
    if (outcome.value === undefined || outcome.value === null)
      throw new RowError('transform', 'The transform returned nothing.');
    current = outcome.value as Json;
  }
  return current;
}

const statusOf = (verdict: Verdict): Pick<CaseResult, 'status' | 'error'> => {
  if (verdict.error !== undefined) return { status: 'error', error: { code: 'grading', message: verdict.error } };
  return { status: verdict.pass ? 'passed' : 'failed' };
};

const registerOf = (planned: PromptCase, output: Json): object =>
  planned.storeAs !== undefined && output !== null && output !== '' && output !== false && output !== 0
    ? { register: { name: planned.storeAs, value: output } }
    : {};

function writesOf(
  planned: PromptCase,
  prompt: string,
  output: Json,
  reply: Reply | undefined,
): Pick<CaseResult, 'writes'> {
  const said =
    planned.conversationKey === undefined
      ? {}
      : { exchange: exchangeOf(prompt, reply?.output, reply?.metadata as Json | undefined) as unknown as Json };
  const writes = { ...registerOf(planned, output), ...said };
  return Object.keys(writes).length === 0 ? {} : { writes };
}

/** The part of a row that says how it came to be. */
function rowDetail(
  detail: EvalDetail,
  rendered: RenderedCase | undefined,
  reply: Reply | undefined,
  metadata?: JsonObject,
): Json {
  return {
    testIdx: detail.testIdx,
    promptIdx: detail.promptIdx,
    ...(rendered === undefined ? {} : { prompt: rendered.prompt, vars: rendered.vars }),
    ...(reply === undefined
      ? {}
      : {
          response: {
            output: reply.output,
            cached: reply.cached,
            finishReason: reply.finishReasonRaw ?? reply.finishReason,
            status: reply.status,
            ...(reply.metadata === undefined ? {} : { metadata: reply.metadata }),
          },
        }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Plays one case of an eval. */
export const evalRunner = (parts: EvalRunnerParts): CaseRunners['prompt'] => {
  // Which settings an answer was made with, for the cache: a name stands for them within one suite only.
  const known = new Map(parts.suite.providers.map((one) => [one.name, JSON.stringify(providerIdentity(one))]));
  const settingsOf = (name: string): string => known.get(name) ?? name;
  return async (planned: PromptCase, context: CaseContext): Promise<CaseResult> => {
    const { effects, registers, conversation } = context;
    const { signal } = effects;
    const detail = await parts.hooks.beforeEach(evalDetail(planned), signal);
    let rendered: RenderedCase | undefined;
    let reply: Reply | undefined;
    const failed = (code: string, message: string): CaseResult => ({
      status: 'error',
      score: null,
      output: null,
      error: { code, message },
      detail: rowDetail(detail, rendered, reply),
      ...(rendered === undefined || code === 'unknown-assertion' ? {} : writesOf(planned, rendered.prompt, '', reply)),
    });
    try {
      const history = conversation as unknown as readonly Exchange[];
      const current = { ...planned, vars: detail.test.vars ?? planned.vars };
      rendered = await renderCase(current, registers, history, { ...parts.rendering, signal });
      const unknown = unknownTypeError(detail.test.assert ?? []);
      if (unknown !== undefined) return failed('unknown-assertion', unknown);
      const settings = settingsOf(planned.column.provider);
      const asked = await askCase(planned, detail, rendered, effects, settings, parts.asking);
      if (asked.answer.kind === 'failure') throw new RowError(asked.answer.code, asked.answer.message);
      reply = asked.answer;
      if (reply.output === null || reply.output === undefined) {
        return { ...failed('no-output', 'No output'), status: 'failed', score: 0 };
      }
      const output = await transformed(reply.output, reply, detail, rendered.vars, parts, signal);
      const provider = parts.suite.providers.find(({ name }) => name === planned.column.provider);
      const verdict = await grade(
        detail.test.assert ?? [],
        {
          output,
          prompt: rendered.prompt,
          vars: rendered.vars,
          reply: replyFacts(reply, asked.latencyMs),
          provider: { ...detail.provider, config: { ...provider?.config, ...rendered.promptConfig } },
          test: detail.test as unknown as JsonObject,
          providerOutput: reply.output,
          ...(asked.trace === undefined ? {} : { trace: asked.trace }),
        },
        effects,
        gradeOptions(detail, parts, planned.repeat),
      );
      const after = await parts.hooks.afterEach(
        detail,
        { verdict, output, reply, prompt: rendered.prompt, vars: rendered.vars },
        signal,
      );
      const { responseMetadata } = after;
      const told = responseMetadata === undefined ? reply : { ...reply, metadata: responseMetadata };
      return {
        ...statusOf(after.verdict),
        score: after.verdict.error === undefined ? after.verdict.score : null,
        output,
        verdict: after.verdict,
        detail: rowDetail(detail, rendered, told, after.metadata),
        ...writesOf(planned, rendered.prompt, output, reply),
      };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof RowError) return failed(error.code, error.message);
      return failed('code', error instanceof Error ? error.message : String(error));
    }
  };
};
