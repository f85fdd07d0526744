/**
 * Job: hold the rows of a test whose answers are compared with each other until all of them are there, then have them
 * compared and make them final.
 * Not its job: what a comparison says (the runner's), order between cases.
 *
 * 1. A held row is on disk as provisional and not in memory: a run that stops shows it, a resume plays it again from its
 *    journal, for nothing.
 * 2. The rows of a test become final together, compared, or not at all: everybody sees one verdict.
 * 3. What a grader says is journaled under the test's first case, so it is paid once.
 */
import type { Case, PromptCase } from '../domain/case.ts';
import type { CaseIndex } from '../domain/ids.ts';
import { addedUsage, type Usage } from '../domain/reply.ts';
import type { Row } from '../domain/row.ts';
import type { CaseWrites, RunStore, StoredRow } from '../store/store.ts';
import { createEffects } from './case-effects.ts';
import type { CasedRow, CaseRunners } from './case-runner.ts';
import { storeJournal } from './journal.ts';
import type { CallDesk, Caller } from './model-call.ts';
import { storedRow } from './read-run.ts';
import type { CaseMeter } from './run-meter.ts';
import { createStep, type StepEnd } from './step.ts';
import { WorkingTime } from './working-time.ts';

export interface ComparisonParts {
  readonly run: RunStore;
  readonly desk: CallDesk;
  readonly compare: CaseRunners['compare'];
  /** Notes the calls of one comparison. */
  readonly meter: () => CaseMeter;
}

interface Group {
  readonly members: readonly CaseIndex[];
  readonly arrived: Set<CaseIndex>;
}

/** What the comparison of one test has cost. */
class Bill {
  cost: number | null = 0;
  usage: Usage = {};
  calls = 0;

  add({ kind, answer }: StepEnd): void {
    if (kind !== 'model') return;
    this.calls += 1;
    this.cost = this.cost === null || answer.costUsdMicros === null ? null : this.cost + answer.costUsdMicros;
    this.usage = addedUsage(this.usage, answer.usage);
  }

  on(row: Row): Row {
    if (this.calls === 0) return row;
    const usage = addedUsage(row.usage ?? {}, this.usage);
    const cost = this.cost === null || row.costUsdMicros === null ? null : row.costUsdMicros + this.cost;
    return { ...row, costUsdMicros: cost, ...(Object.keys(usage).length === 0 ? {} : { usage }) };
  }
}

const final = ({ provisional: _, ...row }: Row): Row => row;

export class RowComparison {
  readonly #parts: ComparisonParts;
  /** Tests that wait for some of their rows, by the index of their first case. */
  readonly #groups = new Map<CaseIndex, Group>();

  readonly #held = new Set<CaseIndex>();

  constructor(parts: ComparisonParts) {
    this.#parts = parts;
  }

  /** The case's row is final only when those it is compared with are there. */
  #concerns(one: Case): one is PromptCase & { readonly comparedWith: readonly CaseIndex[] } {
    return this.#parts.compare !== undefined && one.kind === 'prompt' && one.comparedWith !== undefined;
  }

  /** The row waits on disk for others of its test. */
  holds(index: CaseIndex): boolean {
    return this.#held.has(index);
  }

  /** Keeps a row; gives back the rows that are final now: its own, none while others are missing, or all of its test. */
  async keep(
    one: Case,
    { row, writes }: { readonly row: Row; readonly writes?: CaseWrites },
    caller: Pick<Caller, 'signal' | 'serial'>,
  ): Promise<readonly Row[]> {
    const { run } = this.#parts;
    if (!this.#concerns(one)) {
      await run.saveRow(row, writes);
      return [row];
    }
    await run.saveRow({ ...row, provisional: true }, writes);
    const first = one.comparedWith[0] ?? one.index;
    const group = this.#groups.get(first) ?? (await this.#open(first, one.comparedWith));
    group.arrived.add(one.index);
    this.#held.add(one.index);
    if (group.arrived.size < group.members.length) return [];
    return this.#close(first, group, { ...caller, index: one.index });
  }

  /** Compares what is there of tests whose other cases are not part of this run; call it when no case is left. */
  async finish(signal: AbortSignal): Promise<readonly Row[]> {
    const done: Row[] = [];
    for (const [first, group] of [...this.#groups])
      done.push(...(await this.#close(first, group, { signal, serial: false, index: first })));
    return done;
  }

  async #close(
    first: CaseIndex,
    { arrived }: Group,
    caller: Pick<Caller, 'signal' | 'serial' | 'index'>,
  ): Promise<readonly Row[]> {
    const stored = await this.#stored([...arrived].toSorted((a, b) => a - b));
    const compared = await this.#compare(first, stored, caller);
    if (compared === undefined) return [];
    const done = stored
      .filter(({ row }) => row.provisional === true)
      .map((each) => ({ ...each, row: compared.get(each.row.index) ?? final(each.row) }));
    await this.#parts.run.saveRows(done);
    this.#groups.delete(first);
    for (const index of arrived) this.#held.delete(index);
    return done.map(({ row }) => row);
  }

  async #open(first: CaseIndex, members: readonly CaseIndex[]): Promise<Group> {
    const stored = await this.#stored(members);
    const finished = stored.filter(({ row }) => row.provisional !== true).map(({ row }) => row.index);
    const known = this.#groups.get(first);
    if (known !== undefined) return known;
    const group = { members, arrived: new Set(finished) };
    this.#groups.set(first, group);
    return group;
  }

  async #stored(members: readonly CaseIndex[]): Promise<StoredRow[]> {
    const found: StoredRow[] = [];
    for (const index of members) {
      const stored = await storedRow(this.#parts.run, index);
      if (stored !== undefined) found.push(stored);
    }
    return found;
  }

  /** Undefined when the run was stopped meanwhile. */
  async #compare(
    first: CaseIndex,
    stored: readonly StoredRow[],
    { signal, serial, index }: Pick<Caller, 'signal' | 'serial' | 'index'>,
  ): Promise<Map<CaseIndex, Row> | undefined> {
    const { run, desk, compare } = this.#parts;
    const rows: CasedRow[] = [];
    for (const { row } of stored) {
      const planned = await run.case(row.index);
      if (planned?.kind === 'prompt') rows.push({ case: planned, row: final(row) });
    }
    const bill = new Bill();
    const meter = this.#parts.meter();
    const working = new WorkingTime(desk.clock, undefined, () => {});
    const repeat = rows[0]?.case.repeat ?? 0;
    const caller: Caller = { index, repeat, signal, working, serial, expectedCalls: 1, made: 0, onSend: () => {} };
    const step = createStep({
      journal: storeJournal(run, first, await run.history(first)),
      name: `${run.id}/${first}`,
      now: desk.clock.now,
      onEnd: (end) => {
        bill.add(end);
        meter.add(end);
      },
    });
    const effects = createEffects(desk, caller, step);
    try {
      const compared = (await compare?.(rows, effects)) ?? [];
      if (caller.interruption !== undefined) return undefined;
      return new Map(compared.map((row) => [row.index, row.index === first ? bill.on(row) : row]));
    } catch (cause) {
      if (caller.interruption !== undefined || signal.aborted) return undefined;
      throw cause;
    } finally {
      meter.close();
    }
  }
}
