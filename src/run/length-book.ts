/** How long cases were, kept for the next forecast: conversations by scenario, prompts together by prompt. */
import type { Case } from '../domain/case.ts';
import type { Row } from '../domain/row.ts';
import type { Length, Store } from '../store/store.ts';

const mean = (old: number, seen: number, value: number): number => old + (value - old) / (seen + 1);

export class LengthBook {
  readonly #store: Store;
  readonly #known = new Map<string, Promise<Map<string, Length>>>();
  readonly #current = new Map<string, Length>();

  constructor(store: Store) {
    this.#store = store;
  }

  async add(one: Case, row: Row, calls: number): Promise<void> {
    if (row.status === 'error' || calls === 0) return;
    const family = one.column.prompt;
    const name = one.kind === 'conversation' ? one.name : '';
    const old = (await this.#family(family)).get(name) ?? {
      family,
      name,
      calls: 0,
      inputTokens: 0,
      outputTokens: 0,
      workingMs: 0,
      seen: 0,
    };
    const next: Length = {
      family,
      name,
      calls: mean(old.calls, old.seen, calls),
      inputTokens: mean(old.inputTokens, old.seen, row.usage?.inputTokens ?? 0),
      outputTokens: mean(old.outputTokens, old.seen, row.usage?.outputTokens ?? 0),
      workingMs: mean(old.workingMs, old.seen, row.latencyMs),
      seen: old.seen + 1,
    };
    (await this.#family(family)).set(name, next);
    this.#current.set(`${family}\n${name}`, next);
    if (this.#current.size >= 64) await this.save();
  }

  async save(): Promise<void> {
    const lengths = [...this.#current.values()];
    this.#current.clear();
    if (lengths.length > 0) await this.#store.saveLengths(lengths);
  }

  #family(family: string): Promise<Map<string, Length>> {
    let known = this.#known.get(family);
    if (known === undefined) {
      known = this.#store.lengths(family).then((found) => new Map(found.map((length) => [length.name, length])));
      this.#known.set(family, known);
    }
    return known;
  }
}
