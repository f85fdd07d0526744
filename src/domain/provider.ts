import type { LaneKey, Tokens, UsdMicros } from './ids.ts';
import type { LaneNode } from './lane.ts';
import type { ModelRequest } from './message.ts';
import type { Outcome, RateHints, Usage } from './reply.ts';

/** What a call is expected to weigh before it is sent; settled with the real usage afterwards. */
export interface TokenEstimate {
  readonly input: Tokens;
  readonly output: Tokens;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Fires once, when the response head has arrived, before the body: lanes learn from it one latency earlier. */
  readonly onHead?: (hints: RateHints) => void;
  /** The step's path within its run, sent as `Idempotency-Key` where a provider honours one. */
  readonly idempotencyKey?: string;
}

/** How a provider counts tokens against its limits, as data (see `providers/accounting.ts`). */
export interface AccountingProfile {
  readonly name: string;
  /** What a start takes from the bucket: the expected real use, or input plus the whole `max_tokens`. */
  readonly reserve: 'expected' | 'input+max' | 'max(input,max)' | 'input';
  /** What stays taken once the real use is known: `real` gives back the rest, `reserved` gives back nothing. */
  readonly settle: 'real' | 'reserved';
  /** Share of cached input tokens that counts. */
  readonly cachedFactor: number;
  /** What one output token weighs. */
  readonly outputFactor: number;
  /** True when input and output have buckets of their own. */
  readonly separate: boolean;
  /** What an unset `max_tokens` counts as. */
  readonly defaultMaxTokens: Tokens;
}

/** One configured model behind one adapter: turns one call into one wire request and gives back a value, never a surprise. */
export interface Provider {
  /** As written in the config, for example `openai:chat:gpt-4.1`. */
  readonly id: string;
  readonly label?: string;
  /** Vendor and model as the price table knows them. */
  readonly model: string;
  readonly laneKey: LaneKey;
  /** The lane's own limits and the nodes it shares with other lanes, outermost first. */
  readonly nodes: readonly LaneNode[];
  readonly accounting: AccountingProfile;
  /** Most calls in flight unless the user says otherwise. */
  readonly ceiling: number;
  /** How long an answer takes, where that is known before: simulated providers say so. */
  readonly expectedLatency?: { readonly medianMs: number; readonly sigma: number };
  /** Provider delay of the config: becomes `minGapMs` of its lane. */
  readonly delayMs?: number;
  call(request: ModelRequest, options: CallOptions): Promise<Outcome>;
  /**
   * Names a request by everything that would reach the wire (address, model, parameters, messages, tools), by what the
   * answer is made into, and by its repeat index; holds no secret. Undefined: it must not be cached or shared.
   */
  cacheKey?(request: ModelRequest): Promise<string | undefined>;
  /** Cost of a usage; undefined when the price is unknown. */
  price(usage: Usage): UsdMicros | undefined;
  /** Called once, when the run is over. */
  cleanup?(): Promise<void>;
}
