import type { EpochMillis } from '../domain/ids.ts';

/** What a server saw of one key. */
export interface KeyStatistics {
  requests: number;
  /** When each request arrived. */
  readonly times: EpochMillis[];
  /** Answers by status. */
  readonly statuses: Record<string, number>;
  readonly faults: Record<string, number>;
  /** Requests that came before the time an earlier rejection had named. */
  early: number;
  closedByClient: number;
  /** When the client closed a connection before its answer was done. */
  readonly closedAt: EpochMillis[];
  redirectsFollowed: number;
  connections: number;
  inFlight: number;
  peakInFlight: number;
}

export const newKeyStatistics = (): KeyStatistics => ({
  requests: 0,
  times: [],
  statuses: {},
  faults: {},
  early: 0,
  closedByClient: 0,
  closedAt: [],
  redirectsFollowed: 0,
  connections: 0,
  inFlight: 0,
  peakInFlight: 0,
});

export interface ServerStatistics {
  requests: number;
  connections: number;
  /** Requests whose path is no format of any vendor. */
  unrecognised: number;
  redirectsFollowed: number;
  /** Followed redirects that carried a credential along. */
  credentialsForwarded: number;
  readonly keys: Record<string, KeyStatistics>;
}

export const newServerStatistics = (): ServerStatistics => ({
  requests: 0,
  connections: 0,
  unrecognised: 0,
  redirectsFollowed: 0,
  credentialsForwarded: 0,
  keys: {},
});

/** Counts one more under a name. */
export function countUp(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
