import { ParlaneError } from '../domain/errors.ts';
import type { Millis } from '../domain/ids.ts';
import { seededRandom } from '../domain/seeded-random.ts';
import { drawLatency, type LatencyModel, parseLatency } from '../sim/latency-model.ts';
import { compileFaults, type FaultPlan, type PlannedFault } from './fault-plan.ts';
import type { HeaderStyle, RetryStyle } from './limit-headers.ts';
import { LimitScope, type ServerLimits } from './limit-scope.ts';
import { echoReply, type ReplySource } from './replies.ts';
import type { SeenRequest } from './seen-request.ts';

/** How the server treats the requests it applies to. */
export interface Behaviour {
  readonly limits?: ServerLimits;
  /** One bucket per key and model unless said otherwise. */
  readonly limitScope?: 'key+model' | 'key' | 'all';
  /** Whose headers tell the limits; the vendor's own unless said otherwise. */
  readonly headers?: HeaderStyle;
  /** How a 429 tells the wait; as the vendor does unless said otherwise. */
  readonly retry?: RetryStyle;
  /** Milliseconds, a text such as `200-400ms` or `300ms~900ms`, or a model. 0 unless said otherwise. */
  readonly latency?: Millis | string | LatencyModel;
  /** Time between the response head and the body. */
  readonly bodyDelayMs?: Millis;
  readonly faults?: FaultPlan;
  readonly replies?: ReplySource;
  /** Pause between the bytes of a dripping body. */
  readonly dripMs?: Millis;
  readonly seed?: number;
}

/** A behaviour for some requests only; what it leaves out is as the server's own. */
export interface BehaviourRule extends Behaviour {
  readonly key?: string;
  readonly model?: string;
  /** How the path begins. */
  readonly prefix?: string;
}

function latencyOf(latency: Behaviour['latency']): LatencyModel {
  if (latency === undefined) return { kind: 'fixed', ms: 0 };
  if (typeof latency === 'number') return { kind: 'fixed', ms: latency };
  if (typeof latency !== 'string') return latency;
  const model = parseLatency(latency);
  if (model) return model;
  throw new ParlaneError(
    'testing/latency',
    `"${latency}" is not a latency.`,
    'Write `300ms`, `200-400ms` or `300ms~900ms` (median and 95th percentile).',
  );
}

/** A rule at work: its counters, buckets and random numbers. */
export class RuleState {
  readonly rule: BehaviourRule;
  readonly replies: ReplySource;
  readonly faultOf: (turn: number, now: number) => PlannedFault | undefined;
  readonly drawLatency: () => Millis;
  /** Requests seen so far. */
  turn = 0;
  /** Plain replies given so far; a list of replies is used up by these. */
  answered = 0;
  readonly #scopes = new Map<string, LimitScope>();

  constructor(rule: BehaviourRule) {
    this.rule = rule;
    this.replies = rule.replies ?? echoReply;
    this.faultOf = compileFaults(rule.faults);
    const model = latencyOf(rule.latency);
    const random = seededRandom(rule.seed ?? 1);
    this.drawLatency = () => drawLatency(model, random);
  }

  applies(request: Pick<SeenRequest, 'key' | 'model' | 'path'>): boolean {
    const { key, model, prefix } = this.rule;
    return (
      (key === undefined || key === request.key) &&
      (model === undefined || model === request.model) &&
      (prefix === undefined || request.path.startsWith(prefix))
    );
  }

  scopeOf(request: SeenRequest): LimitScope | undefined {
    if (this.rule.limits === undefined) return undefined;
    const kind = this.rule.limitScope ?? 'key+model';
    const name = kind === 'all' ? '' : kind === 'key' ? request.key : `${request.key} ${request.model}`;
    const scope = this.#scopes.get(name) ?? new LimitScope(this.rule.limits);
    this.#scopes.set(name, scope);
    return scope;
  }
}
