/** What a call is expected to weigh before it is sent: characters by the lane's learned ratio, output by the last ones. */
import type { ModelRequest } from '../domain/message.ts';
import { outputLimit } from '../domain/output-limit.ts';
import type { Provider, TokenEstimate } from '../domain/provider.ts';
import type { Usage } from '../domain/reply.ts';

const firstRatio = 4;
const firstOutput = 256;
/** Weight of the newest observation. */
const memory = 0.05;

const textOf = (value: unknown): number =>
  value === undefined ? 0 : typeof value === 'string' ? value.length : JSON.stringify(value).length;

function characters(request: ModelRequest): number {
  if (request.kind !== 'chat') return request.input.length;
  let sum = textOf(request.prompt) + textOf(request.tools);
  for (const message of request.messages ?? [])
    sum += message.content.length + ('tool_calls' in message ? textOf(message.tool_calls) : 0) + 16;
  return sum;
}

/** No tokenizer makes more tokens than bytes; messages and tools bring a few of their own. */
export function mostInput(request: ModelRequest): number {
  if (request.kind !== 'chat') return Buffer.byteLength(request.input);
  const parts = [request.prompt, request.tools, ...(request.messages ?? [])].filter((part) => part !== undefined);
  return parts.reduce<number>(
    (sum, part) => sum + 16 + Buffer.byteLength(typeof part === 'string' ? part : JSON.stringify(part)),
    0,
  );
}

/** The most an answer may have, as far as the request and the provider's own rule say it. */
export const mostOutput = (request: ModelRequest, provider: Provider): number => {
  if (request.kind !== 'chat') return 0;
  const asked = request.maxTokens ?? (request.params === undefined ? undefined : outputLimit(request.params));
  return asked ?? provider.accounting.defaultMaxTokens;
};

export class TokenEstimator {
  #ratio = firstRatio;
  #output = firstOutput;

  estimate(request: ModelRequest, provider: Provider): TokenEstimate {
    const input = Math.ceil(characters(request) / this.#ratio) + 4;
    return {
      input,
      output: request.kind === 'chat' ? Math.min(Math.ceil(this.#output), mostOutput(request, provider)) : 0,
    };
  }

  learn(request: ModelRequest, usage: Usage | undefined): void {
    if (usage?.inputTokens !== undefined && usage.inputTokens > 0) {
      const ratio = Math.min(8, Math.max(0.5, characters(request) / usage.inputTokens));
      this.#ratio += memory * (ratio - this.#ratio);
    }
    if (usage?.outputTokens === undefined) return;
    // Follows high values quickly and low ones slowly: an estimate near the 90th percentile.
    const step = usage.outputTokens > this.#output ? 0.3 : memory / 2;
    this.#output += step * (usage.outputTokens - this.#output);
  }
}
