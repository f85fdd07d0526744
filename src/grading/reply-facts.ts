import type { Millis } from '../domain/ids.ts';
import { isObject, type Json } from '../domain/json.ts';
import type { Reply } from '../domain/reply.ts';

import type { ReplyFacts } from './subject.ts';

/** What a provider's own safety filter said, or what its finish reason tells. */
function guardrailsOf({ metadata, finishReason }: Reply): ReplyFacts['guardrails'] {
  const told: Json | undefined = metadata?.['guardrails'];
  if (!isObject(told)) return { flagged: finishReason === 'content_filter' };
  const { flagged, flaggedInput, flaggedOutput, reason } = told;
  return {
    flagged: flagged === true,
    ...(typeof flaggedInput === 'boolean' ? { flaggedInput } : {}),
    ...(typeof flaggedOutput === 'boolean' ? { flaggedOutput } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}

/** What grading knows about a reply. An answer from the cache has no latency and costs what it cost when it was made. */
export function replyFacts(reply: Reply, latencyMs?: Millis): ReplyFacts {
  const { costUsdMicros, cached, finishReason, finishReasonRaw, toolCalls, usage, metadata } = reply;
  const guardrails = guardrailsOf(reply);
  return {
    cached,
    finishReason: finishReason === 'other' ? (finishReasonRaw ?? finishReason) : finishReason,
    toolCalls,
    ...(costUsdMicros === undefined ? {} : { costUsdMicros }),
    ...(latencyMs === undefined || cached ? {} : { latencyMs }),
    ...(usage === undefined ? {} : { usage }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(guardrails === undefined ? {} : { guardrails }),
  };
}
