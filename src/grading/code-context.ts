import type { Json, JsonObject } from '../domain/json.ts';
import type { Assertion } from '../domain/verdict.ts';
import type { Subject } from './subject.ts';

const present = (entries: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(entries).filter((entry): entry is [string, Json] => entry[1] !== undefined));

/** The reply as user code knows it: cost in dollars, camelCase, only what is known. */
function responseFacts({ output, reply }: Subject): JsonObject {
  const usage = reply?.usage;
  return present({
    output,
    cost: reply?.costUsdMicros === undefined ? undefined : reply.costUsdMicros / 1_000_000,
    cached: reply?.cached,
    latencyMs: reply?.latencyMs,
    finishReason: reply?.finishReason,
    guardrails: reply?.guardrails as Json | undefined,
    metadata: reply?.metadata,
    raw: reply?.raw,
    tokenUsage:
      usage === undefined
        ? undefined
        : present({
            prompt: usage.inputTokens,
            completion: usage.outputTokens,
            cached: usage.cachedInputTokens,
            total: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
          }),
  });
}

/** The `context` argument of assertion code: plain data only. */
export const assertionContext = (subject: Subject, assertion: Assertion): JsonObject =>
  present({
    prompt: subject.prompt,
    vars: subject.vars,
    test: subject.test ?? { vars: subject.vars },
    logProbs: subject.reply?.logProbs,
    provider: subject.provider as Json | undefined,
    providerResponse: responseFacts(subject),
    config: assertion.config,
    metadata: subject.reply?.metadata,
    trace: subject.trace as Json | undefined,
    conversation: subject.conversation as Json | undefined,
  });

/** The `context` argument of transform code. */
export const transformContext = (subject: Subject): JsonObject =>
  present({
    vars: subject.vars,
    prompt: present({ label: subject.prompt }),
    metadata: subject.reply?.metadata,
  });
