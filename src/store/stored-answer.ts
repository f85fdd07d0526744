/** An answer as it is stored: the raw body apart, and nothing said twice. */

import { caseIndex } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { AnswersTable } from './schema.ts';
import type { Answer, BillingMark, StepKind } from './store.ts';

type Fields = { readonly [key: string]: Json };

const isObject = (value: Json): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Takes the raw body out, and an output that only repeats the text. */
export function encodeValue(kind: StepKind, value: Json): { value: string; raw: string | null } {
  if (kind !== 'model' || !isObject(value)) return { value: JSON.stringify(value), raw: null };
  const { raw, ...rest } = value;
  if (rest['output'] !== undefined && rest['output'] === rest['text']) delete (rest as { output?: Json }).output;
  return { value: JSON.stringify(rest), raw: typeof raw === 'string' ? raw : null };
}

export function decodeValue(kind: StepKind, text: string, raw: string | null): Json {
  const value = JSON.parse(text) as Json;
  if (kind !== 'model' || !isObject(value)) return value;
  const output = value['kind'] === 'reply' && !('output' in value) ? { output: value['text'] ?? '' } : {};
  return { ...value, ...output, ...(raw === null ? {} : { raw }) };
}

export function answerCells(run: number, answer: Answer): Omit<AnswersTable, 'crc'> {
  const { value, raw } = encodeValue(answer.kind, answer.value);
  const { times } = answer;
  return {
    run,
    idx: answer.index,
    path: answer.path,
    send: answer.send,
    kind: answer.kind,
    request_hash: answer.requestHash,
    value,
    raw,
    provider: answer.provider ?? null,
    role: answer.role ?? null,
    input_tokens: answer.usage?.inputTokens ?? null,
    output_tokens: answer.usage?.outputTokens ?? null,
    cost: answer.costUsdMicros,
    started_at: times.startedAt,
    ended_at: times.endedAt,
    queue_ms: times.queueMs,
    backoff_ms: times.backoffMs,
    latency_ms: times.latencyMs,
    attempts: times.attempts,
    billing: answer.billing,
    pinned: answer.pinned === true ? 1 : 0,
  };
}

export function answerOf(cells: AnswersTable): Answer {
  const kind = cells.kind as StepKind;
  const value = decodeValue(kind, cells.value, cells.raw);
  const usage = kind === 'model' && isObject(value) ? (value['usage'] as Answer['usage']) : undefined;
  return {
    index: caseIndex(cells.idx),
    path: cells.path,
    send: cells.send,
    kind,
    requestHash: cells.request_hash,
    value,
    ...(cells.provider === null ? {} : { provider: cells.provider }),
    ...(cells.role === null ? {} : { role: cells.role }),
    ...(usage === undefined ? {} : { usage }),
    costUsdMicros: cells.cost,
    times: {
      startedAt: cells.started_at,
      endedAt: cells.ended_at,
      queueMs: cells.queue_ms,
      backoffMs: cells.backoff_ms,
      latencyMs: cells.latency_ms,
      attempts: cells.attempts,
    },
    billing: cells.billing as BillingMark,
    ...(cells.pinned === 1 ? { pinned: true } : {}),
  };
}
