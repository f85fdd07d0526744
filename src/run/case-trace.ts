/**
 * What a case does on the way to its answer, as a trace: each model call a span, and each tool that a reply asks for.
 * Made from the recorded steps, so it is the same after a resume. Grading is no part of it.
 */
import type { Effects, ModelCall, StepTimes } from '../domain/effects.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Outcome } from '../domain/reply.ts';
import type { Trace } from '../grading/subject.ts';
import { type TracedStep, traceOfSteps } from '../grading/trace/trace-of-steps.ts';

export interface TracedEffects {
  readonly effects: Effects;
  /** Everything done so far, in the order in which it began. */
  trace(id: string): Trace;
}

function attributesOf(call: ModelCall, outcome: Outcome): JsonObject {
  const usage = outcome.kind === 'reply' ? outcome.usage : undefined;
  return {
    'gen_ai.provider.name': call.provider,
    ...(outcome.status === undefined ? {} : { 'http.response.status_code': outcome.status }),
    ...(usage?.inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': usage.inputTokens }),
    ...(usage?.outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': usage.outputTokens }),
    ...(outcome.kind === 'reply' ? { 'gen_ai.response.finish_reasons': [outcome.finishReason] } : {}),
  };
}

function stepsOf(path: string, call: ModelCall, outcome: Outcome, times: StepTimes): TracedStep[] {
  const { endedAt, latencyMs } = times;
  const model: TracedStep = {
    path,
    kind: 'model',
    name: (outcome.kind === 'reply' ? outcome.servedModel : undefined) ?? call.provider,
    role: call.role,
    // Waiting for the lane and tries that failed are not the answer's time.
    startedAt: endedAt - latencyMs,
    endedAt,
    attributes: attributesOf(call, outcome),
    ...(outcome.kind === 'failure' ? { error: outcome.message } : {}),
  };
  const asked = outcome.kind === 'reply' ? outcome.toolCalls : [];
  const tools = asked.map(
    ({ function: wanted }, at): TracedStep => ({
      path: `${path}/tool/${at}`,
      kind: 'tool',
      name: wanted.name,
      arguments: wanted.arguments,
      role: call.role,
      startedAt: endedAt,
      endedAt,
    }),
  );
  return [model, ...tools];
}

/** The same effects, noting what is done. */
export function tracedEffects(effects: Effects): TracedEffects {
  const steps: TracedStep[] = [];
  return {
    effects: {
      ...effects,
      async model(path, call) {
        const recorded = await effects.model(path, call);
        steps.push(...stepsOf(path, call, recorded.value, recorded.times));
        return recorded;
      },
    },
    trace: (id) =>
      traceOfSteps(
        id,
        steps.toSorted((a, b) => a.startedAt - b.startedAt),
      ),
  };
}
