import type { EpochMillis, Tokens } from '../domain/ids.ts';
import type { WireName } from './wires/wire.ts';

/** One request on the server's books. */
export interface LedgerEntry {
  readonly number: number;
  readonly at: EpochMillis;
  readonly key: string;
  readonly model: string;
  readonly wire: WireName;
  readonly promptHash: string;
  readonly idempotencyKey: string | undefined;
  /** `17/500` and the like; undefined for a plain answer. */
  fault: string | undefined;
  status: number;
  inputTokens: Tokens;
  outputTokens: Tokens;
  /** The server began an answer that it would charge for. */
  billed: boolean;
  /** The answer was written to its last byte. */
  delivered: boolean;
  endedAt: EpochMillis | undefined;
}

export interface PaidTwice {
  /** The idempotency key where one was sent, else the hash of the body. */
  readonly identity: string;
  readonly entries: readonly LedgerEntry[];
}

/** Calls that were charged for more than once. */
export function paidTwice(entries: readonly LedgerEntry[]): PaidTwice[] {
  const groups = Map.groupBy(
    entries.filter(({ billed }) => billed),
    ({ key, idempotencyKey, promptHash }) => `${key} ${idempotencyKey ?? promptHash}`,
  );
  return [...groups].filter(([, group]) => group.length > 1).map(([identity, group]) => ({ identity, entries: group }));
}
