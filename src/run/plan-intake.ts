/**
 * Job: write the plan's cases into the store while the run is already going, and say what has been seen so far.
 * Cases are not kept in memory: feeds read them back in pages, so a plan of any length stays flat.
 *
 * On resume the plan is read again only when the first process died before it had recorded all of it; what is recorded
 * is then compared by key, since a different plan would be a different run.
 */
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { PlacedCase, RunStore } from '../store/store.ts';

export type CaseSource = Iterable<Case> | AsyncIterable<Case>;

/** What decides how cases are ordered. */
export interface PlanTraits {
  /** At least one case runs in the serial phase. */
  readonly serial: boolean;
  /** At least one case stores its output or belongs to a conversation key. */
  readonly stateful: boolean;
}

const firstChunk = 64;
const chunk = 512;

const isStateful = (one: Case): boolean =>
  one.kind === 'prompt' && (one.storeAs !== undefined || one.conversationKey !== undefined);

/** How many cases a source holds, as far as it says so before it is read. */
export const knownLength = (source: CaseSource | undefined): number => (Array.isArray(source) ? source.length : 0);

/** Reads the traits off a list; undefined for a stream, which shows them only at its end. */
export function traitsOf(source: CaseSource): PlanTraits | undefined {
  if (!Array.isArray(source)) return undefined;
  const cases = source as readonly Case[];
  return { serial: cases.some((one) => one.serial === true), stateful: cases.some(isStateful) };
}

const differs = (one: Case): ParlaneError =>
  new ParlaneError(
    'run/plan-differs',
    `Case #${one.index} ("${one.name}") of this plan is not the one that the run recorded.`,
    'Resume with the same files, or start a new run.',
    { index: one.index },
  );

/** A run of nothing would look like a run in which all went well. */
export const noCases = (): ParlaneError =>
  new ParlaneError('run/no-cases', 'The plan has no cases.', 'Add tests or scenarios, or widen the filters.');

export class PlanIntake {
  readonly #run: RunStore;
  readonly #onProvider: (provider: string) => void;
  readonly #onMore: () => void;
  readonly #providers = new Set<string>();
  #traits: PlanTraits = { serial: false, stateful: false };
  #cancelled = false;
  recorded = 0;
  complete = false;

  /** `onProvider`: a provider was seen for the first time. `onMore`: more cases can be read, or all are in. */
  constructor(run: RunStore, onProvider: (provider: string) => void, onMore: () => void) {
    this.#run = run;
    this.#onProvider = onProvider;
    this.#onMore = onMore;
  }

  get traits(): PlanTraits {
    return this.#traits;
  }

  /** Takes over what an earlier process has recorded. */
  async restore(): Promise<void> {
    const { cases } = await this.#run.caseCount();
    this.recorded = cases;
    this.complete = (await this.#run.record()).planned !== undefined;
    for (const provider of await this.#run.providers()) this.#meet(provider);
  }

  /** Records the rest of the plan. */
  async read(source: CaseSource): Promise<void> {
    const known = this.recorded;
    let position = 0;
    let gathered: PlacedCase[] = [];
    for await (const one of source) {
      if (this.#cancelled) return;
      this.#traits = {
        serial: this.#traits.serial || one.serial === true,
        stateful: this.#traits.stateful || isStateful(one),
      };
      if (position < known) await this.#compare(one);
      else gathered.push({ position, case: one });
      position++;
      if (gathered.length < (this.recorded === 0 ? firstChunk : chunk)) continue;
      await this.#record(gathered);
      gathered = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#record(gathered);
    if (this.#cancelled) return;
    if (this.recorded === 0) throw noCases();
    await this.#run.change({ planned: this.recorded });
    this.complete = true;
    this.#onMore();
  }

  /** Records nothing more; a plan that is not whole by now is read again on resume. */
  cancel(): void {
    this.#cancelled = true;
  }

  async #compare(one: Case): Promise<void> {
    if ((await this.#run.case(one.index))?.key !== one.key) throw differs(one);
  }

  async #record(cases: readonly PlacedCase[]): Promise<void> {
    if (cases.length === 0 || this.#cancelled) return;
    await this.#run.addCases(cases);
    this.recorded += cases.length;
    for (const { case: one } of cases) this.#meet(one.column.provider);
    this.#onMore();
  }

  #meet(provider: string): void {
    if (this.#providers.has(provider)) return;
    this.#providers.add(provider);
    this.#onProvider(provider);
  }
}
