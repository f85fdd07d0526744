import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, realClock } from '../platform/clock.ts';
import { type Behaviour, type BehaviourRule, RuleState } from './behaviour.ts';
import type { LedgerEntry } from './ledger.ts';
import type { SeenRequest } from './seen-request.ts';
import { type KeyStatistics, newKeyStatistics, newServerStatistics } from './statistics.ts';

export interface FaultServerOptions extends Behaviour {
  /** Behaviours for some keys, models or path prefixes; the first that applies counts, over the server's own. */
  readonly rules?: readonly BehaviourRule[];
  /** Port of 127.0.0.1; a free one unless said otherwise. */
  readonly port?: number;
  /** HTTPS with a certificate that nobody trusts. */
  readonly tls?: boolean;
  /** Time for latency, buckets and drips. */
  readonly clock?: Clock;
}

/** Where the server keeps everything that changes. */
export class ServerState {
  readonly #options: FaultServerOptions;
  readonly clock: Clock;
  #added: BehaviourRule[] = [];
  #rules: RuleState[] = [];
  readonly #ruleOf = new Map<string, RuleState>();
  readonly #waits = new Map<string, number>();
  readonly #stale = new WeakSet<Socket>();
  readonly #met = new WeakMap<Socket, Set<string>>();
  readonly lastReply = new Map<string, string>();
  statistics = newServerStatistics();
  ledger: LedgerEntry[] = [];

  constructor(options: FaultServerOptions) {
    this.#options = options;
    this.clock = options.clock ?? realClock;
    this.reset();
  }

  reset(): void {
    const { rules: own = [], port: _port, tls: _tls, clock: _clock, ...behaviour } = this.#options;
    this.#rules = [...this.#added, ...own, {}].map((rule) => new RuleState({ ...behaviour, ...rule }));
    this.#ruleOf.clear();
    this.#waits.clear();
    this.lastReply.clear();
    this.statistics = newServerStatistics();
    this.ledger = [];
  }

  behave(rule: BehaviourRule): void {
    const { rules: _rules, port: _port, tls: _tls, clock: _clock, ...behaviour } = this.#options;
    const state = new RuleState({ ...behaviour, ...rule });
    this.#added.unshift(rule);
    this.#rules.unshift(state);
    this.#ruleOf.clear();
  }

  ruleOf(request: SeenRequest): RuleState {
    const name = `${request.key}\n${request.model}\n${request.path}`;
    const known = this.#ruleOf.get(name);
    if (known) return known;
    const rule = this.#rules.find((candidate) => candidate.applies(request)) ?? new RuleState({});
    this.#ruleOf.set(name, rule);
    return rule;
  }

  key(key: string): KeyStatistics {
    const known = this.statistics.keys[key];
    if (known) return known;
    const fresh = newKeyStatistics();
    this.statistics.keys[key] = fresh;
    return fresh;
  }

  tellWait(key: string, until: number): void {
    this.#waits.set(key, Math.max(until, this.#waits.get(key) ?? 0));
  }

  markStale(response: ServerResponse): void {
    if (response.socket) this.#stale.add(response.socket);
  }

  isStale(socket: Socket): boolean {
    return this.#stale.has(socket);
  }

  /** Counts a request on arrival. */
  meet(request: SeenRequest, socket: Socket): KeyStatistics {
    const statistics = this.key(request.key);
    statistics.requests += 1;
    statistics.times.push(request.at);
    statistics.inFlight += 1;
    statistics.peakInFlight = Math.max(statistics.peakInFlight, statistics.inFlight);
    if (request.at < (this.#waits.get(request.key) ?? 0)) statistics.early += 1;
    const keys = this.#met.get(socket) ?? new Set();
    this.#met.set(socket, keys);
    if (!keys.has(request.key)) statistics.connections += 1;
    keys.add(request.key);
    return statistics;
  }
}
