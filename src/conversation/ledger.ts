import type { ConversationMetrics, LoggedFailure, RoleUsage } from '../domain/conversation-result.ts';
import type { Recorded, StepTimes } from '../domain/effects.ts';
import type { Millis, UsdMicros } from '../domain/ids.ts';
import type { Outcome } from '../domain/reply.ts';

interface Sum {
  calls: number;
  input: number;
  output: number;
  cached: number;
  cost: UsdMicros;
  unpriced: number;
  unknown: number;
}

interface Hop {
  readonly from: string;
  readonly to: string;
  alive: boolean;
}

/**
 * What a conversation has used so far. Its job: add up times, tokens, money, tools and handoffs as they happen, from
 * recorded numbers only, so that a resumed conversation has the same sums.
 */
export class Ledger {
  readonly #roles = new Map<string, Sum>();
  readonly #tools = new Map<string, number>();
  readonly #hops: Hop[] = [];
  readonly #path: string[];
  readonly failures: LoggedFailure[] = [];
  readonly warnings: string[] = [];
  #workingMs: Millis = 0;
  #queueMs: Millis = 0;
  #providerMs: Millis = 0;
  #toolMs: Millis = 0;
  #invalidHandoffs = 0;
  /** The latest moment known from a recorded step. */
  lastKnownAt = 0;

  constructor(entry: string) {
    this.#path = [entry];
  }

  get workingMs(): Millis {
    return this.#workingMs;
  }

  get costMicros(): UsdMicros {
    return [...this.#roles.values()].reduce((sum, { cost }) => sum + cost, 0);
  }

  get toolCalls(): number {
    return [...this.#tools.values()].reduce((sum, count) => sum + count, 0);
  }

  addModelCall(role: string, { value, times }: Recorded<Outcome>): void {
    this.#see(times);
    this.#workingMs += times.latencyMs;
    this.#providerMs += times.latencyMs;
    this.#queueMs += times.queueMs + times.backoffMs;
    const sum = this.#roles.get(role) ?? { calls: 0, input: 0, output: 0, cached: 0, cost: 0, unpriced: 0, unknown: 0 };
    this.#roles.set(role, sum);
    sum.calls += 1;
    if (value.kind !== 'reply') return;
    sum.input += value.usage?.inputTokens ?? 0;
    sum.output += value.usage?.outputTokens ?? 0;
    sum.cached += value.usage?.cachedInputTokens ?? 0;
    sum.cost += value.costUsdMicros ?? 0;
    if (value.costUsdMicros === undefined) sum.unpriced += 1;
    if (value.usage === undefined || value.costUsdMicros === undefined) sum.unknown += 1;
  }

  /** Tools that ran side by side take the time of the slowest. */
  addToolTimes(group: readonly (StepTimes | undefined)[]): Millis {
    let longest = 0;
    for (const times of group) {
      if (times === undefined) continue;
      this.#see(times);
      longest = Math.max(longest, times.latencyMs);
    }
    this.#workingMs += longest;
    this.#toolMs += longest;
    return longest;
  }

  countTool(name: string): void {
    this.#tools.set(name, (this.#tools.get(name) ?? 0) + 1);
  }

  addHandoff(from: string, to: string): void {
    this.#hops.push({ from, to, alive: false });
    this.#path.push(to);
  }

  /** The agent that holds the conversation did something. */
  agentActed(): void {
    const last = this.#hops.at(-1);
    if (last !== undefined) last.alive = true;
  }

  /** Whether the last handoffs only went back and forth. */
  get bouncing(): boolean {
    const [a, b] = [this.#hops.at(-1), this.#hops.at(-2)];
    return a !== undefined && b !== undefined && a.to === b.from;
  }

  log(failure: LoggedFailure): void {
    this.failures.push(failure);
    if (failure.kind === 'handoff') this.#invalidHandoffs += 1;
  }

  metrics(turns: number): ConversationMetrics {
    const roles = [...this.#roles].map(([role, sum]): [string, RoleUsage] => [role, usageOf(sum)]);
    const unpriced = [...this.#roles.values()].some((sum) => sum.unpriced > 0);
    return {
      turns,
      tool_calls: this.toolCalls,
      tool_errors: this.failures.filter(({ kind }) => kind === 'tool' || kind === 'handoff').length,
      tools: Object.fromEntries(this.#tools),
      handoff_path: this.#path,
      ping_pong: this.#hops.filter((hop, at) => hop.to === this.#hops[at - 1]?.from).length,
      dead_handoffs: this.#hops.filter(({ alive }) => !alive).length,
      invalid_handoffs: this.#invalidHandoffs,
      per_role: Object.fromEntries(roles),
      cost_usd: unpriced ? null : this.costMicros / 1_000_000,
      queue_ms: this.#queueMs,
      provider_ms: this.#providerMs,
      tool_ms: this.#toolMs,
    };
  }

  #see(times: StepTimes): void {
    this.lastKnownAt = Math.max(this.lastKnownAt, times.endedAt);
  }
}

const usageOf = (sum: Sum): RoleUsage => ({
  calls: sum.calls,
  input_tokens: sum.input,
  output_tokens: sum.output,
  cached_input_tokens: sum.cached,
  cost_usd: sum.unpriced > 0 ? null : sum.cost / 1_000_000,
  unknown_usage_calls: sum.unknown,
});
