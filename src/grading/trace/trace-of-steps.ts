import type { Millis } from '../../domain/ids.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Span, Trace } from '../subject.ts';

/** A journal step as far as traces need it. */
export interface TracedStep {
  readonly path: string;
  readonly kind: 'model' | 'tool' | 'webhook' | 'code';
  /** Model id, tool name, webhook address. */
  readonly name: string;
  readonly startedAt: Millis;
  readonly endedAt?: Millis;
  /** A tool's arguments, as data or as the model's own text. */
  readonly arguments?: Json;
  readonly role?: string;
  /** Why it failed, when it did. */
  readonly error?: string;
  readonly attributes?: JsonObject;
}

const nameOf = ({ kind, name }: TracedStep): string => {
  switch (kind) {
    case 'model':
      return `chat ${name}`;
    case 'tool':
      return `execute_tool ${name}`;
    case 'webhook':
    case 'code':
      return `${kind} ${name}`;
  }
};

function attributesOf(step: TracedStep): JsonObject {
  const role = step.role === undefined ? {} : { 'parlane.role': step.role };
  if (step.kind === 'model')
    return { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': step.name, ...role, ...step.attributes };
  if (step.kind !== 'tool') return { ...role, ...step.attributes };
  const args = step.arguments === undefined ? {} : { 'gen_ai.tool.call.arguments': step.arguments };
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': step.name,
    ...args,
    ...role,
    ...step.attributes,
  };
}

function spanOf(step: TracedStep): Span {
  return {
    spanId: step.path,
    name: nameOf(step),
    startTime: step.startedAt,
    ...(step.endedAt === undefined ? {} : { endTime: step.endedAt }),
    attributes: attributesOf(step),
    ...(step.error === undefined ? {} : { statusCode: 2, statusMessage: step.error }),
  };
}

/** A case's journal as a trace: what the trace and trajectory checks look at when nobody sent a trace of their own. */
export const traceOfSteps = (traceId: string, steps: readonly TracedStep[]): Trace => ({
  traceId,
  spans: steps.map(spanOf),
});
