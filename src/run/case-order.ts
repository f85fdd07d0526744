/**
 * Job: hold back a case until the earlier ones are over whose words it may see, and nothing else
 * (`serialize: conversation`): within a conversation key one after another; within a column after every earlier case
 * that stores an output.
 * Expects cases in plan order. Cases of one key or column belong to one provider, so one feed sees them all.
 */
import type { Case } from '../domain/case.ts';
import type { CaseIndex } from '../domain/ids.ts';

export class CaseOrder {
  /** The last unfinished case of each key, or the last unfinished writer of each column. */
  readonly #last = new Map<string, CaseIndex>();
  readonly #waiting = new Map<CaseIndex, { readonly case: Case; open: number }>();
  readonly #followers = new Map<CaseIndex, CaseIndex[]>();

  /** Cases that are held back. */
  get held(): number {
    return this.#waiting.size;
  }

  /** True: it may start now. False: it is held back and will be given out by `finish`. */
  admit(one: Case): boolean {
    const before = new Set<CaseIndex>();
    for (const name of follows(one)) {
      const last = this.#last.get(name);
      if (last !== undefined) before.add(last);
    }
    for (const name of leads(one)) this.#last.set(name, one.index);
    if (before.size === 0) return true;
    this.#waiting.set(one.index, { case: one, open: before.size });
    for (const index of before) this.#followers.set(index, [...(this.#followers.get(index) ?? []), one.index]);
    return false;
  }

  /** A case is over: which held ones may start now. */
  finish(one: Case): Case[] {
    for (const name of leads(one)) if (this.#last.get(name) === one.index) this.#last.delete(name);
    const free: Case[] = [];
    for (const index of this.#followers.get(one.index) ?? []) {
      const held = this.#waiting.get(index);
      if (held === undefined || --held.open > 0) continue;
      this.#waiting.delete(index);
      free.push(held.case);
    }
    this.#followers.delete(one.index);
    return free;
  }
}

const keyName = (one: Case): string[] =>
  one.kind === 'prompt' && one.conversationKey !== undefined ? [`key ${one.conversationKey}`] : [];

/** Every prompt case of a column may read its registers. */
const follows = (one: Case): string[] =>
  one.kind === 'prompt' ? [...keyName(one), `column ${one.column.position}`] : [];

const leads = (one: Case): string[] =>
  one.kind === 'prompt' && one.storeAs !== undefined
    ? [...keyName(one), `column ${one.column.position}`]
    : keyName(one);
