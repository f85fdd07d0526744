/**
 * Job: what cases leave to each other: registers of a column and exchanges of a conversation key.
 *
 * Invariants: 1. A case sees exactly what the cases before it in sequential order have written, whatever has finished
 * since. 2. Sequential order: the serial phase first, then plan order.
 */
import type { Case } from '../domain/case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { CaseWrites } from '../store/store.ts';

/** Where a case stands in sequential order. */
export const sequence = (one: Pick<Case, 'index' | 'serial'>): number =>
  one.serial === true ? one.index - Number.MAX_SAFE_INTEGER / 2 : one.index;

interface Entry {
  readonly at: number;
  readonly value: Json;
}

/** Adds in order; what arrives late (on resume, from another order of reading) is put into its place. */
function place(entries: Entry[], entry: Entry): void {
  let at = entries.length;
  while (at > 0 && (entries[at - 1] as Entry).at > entry.at) at--;
  entries.splice(at, 0, entry);
}

const newestBefore = (entries: readonly Entry[], at: number): Entry | undefined =>
  entries.findLast((entry) => entry.at < at);

export class SharedState {
  readonly #registers = new Map<number, Map<string, Entry[]>>();
  readonly #exchanges = new Map<string, Entry[]>();

  add(one: Case, { register, exchange }: CaseWrites): void {
    if (one.kind !== 'prompt') return;
    const at = sequence(one);
    if (register !== undefined) {
      const column = this.#registers.get(one.column.position) ?? new Map<string, Entry[]>();
      this.#registers.set(one.column.position, column);
      const entries = column.get(register.name) ?? [];
      column.set(register.name, entries);
      place(entries, { at, value: register.value });
    }
    if (exchange === undefined || one.conversationKey === undefined) return;
    const entries = this.#exchanges.get(one.conversationKey) ?? [];
    this.#exchanges.set(one.conversationKey, entries);
    place(entries, { at, value: exchange });
  }

  registers(one: Case): JsonObject {
    const column = this.#registers.get(one.column.position);
    if (column === undefined) return {};
    const at = sequence(one);
    const found: Record<string, Json> = {};
    for (const [name, entries] of column) {
      const entry = newestBefore(entries, at);
      if (entry !== undefined) found[name] = entry.value;
    }
    return found;
  }

  conversation(one: Case): readonly Json[] {
    if (one.kind !== 'prompt' || one.conversationKey === undefined) return [];
    const at = sequence(one);
    return (this.#exchanges.get(one.conversationKey) ?? []).filter((entry) => entry.at < at).map(({ value }) => value);
  }
}
