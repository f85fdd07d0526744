/**
 * A run in numbers: its evals, its conversations, and what both have cost.
 *
 * What is told about the whole run covers every case; scores, turns, repeats and scenarios are those of conversations.
 * Costs and roles come from the journal, so that they add up, whatever became of the cases.
 */
import {
  type BatchSummary,
  type RoleTotals,
  successInterval,
  summarizeBatch,
} from '../conversation/summarize-batch.ts';
import type { Column } from '../domain/case.ts';
import type { CaseIndex } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import type { RoleSpent, RunStore } from '../store/store.ts';
import { openCasePages, rowsOf } from './read-run.ts';

/** A part of a run: its evals, its conversations, one column of the table. */
export interface PartSummary
  extends Pick<BatchSummary, 'planned' | 'scored' | 'successes' | 'success_rate' | 'counts'> {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Null when a price is unknown. */
  readonly cost_usd: number | null;
}

export interface ColumnSummary extends PartSummary {
  readonly provider: string;
  readonly prompt: string;
}

export interface EvalSummary extends PartSummary {
  readonly success_interval: BatchSummary['success_interval'];
  /** By provider and prompt, in the order of the table. */
  readonly columns: readonly ColumnSummary[];
}

export interface RunSummary extends BatchSummary {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Absent when the run has no tests. */
  readonly evals?: EvalSummary;
  /** Absent when the run has no conversations. */
  readonly conversations?: PartSummary;
}

/** Adds up rows one by one. */
class Part {
  readonly #counts = { passed: 0, failed: 0, errors: 0, skipped: 0, aborted: 0, open: 0 };
  #planned = 0;
  #input = 0;
  #output = 0;
  #cost: number | null = 0;

  add({ status, provisional, usage, costUsdMicros }: Row): void {
    if (provisional === true) this.addOpen();
    else {
      this.#planned++;
      this.#counts[status === 'error' ? 'errors' : status]++;
    }
    this.#input += usage?.inputTokens ?? 0;
    this.#output += usage?.outputTokens ?? 0;
    this.#cost = this.#cost === null || costUsdMicros === null ? null : this.#cost + costUsdMicros;
  }

  /** A case that is still to be played to its end. */
  addOpen(): void {
    this.#planned++;
    this.#counts.aborted++;
    this.#counts.open++;
  }

  get empty(): boolean {
    return this.#planned === 0;
  }

  summary(): PartSummary {
    const { passed, failed } = this.#counts;
    const scored = passed + failed;
    return {
      planned: this.#planned,
      scored,
      successes: passed,
      success_rate: scored === 0 ? null : passed / scored,
      counts: { ...this.#counts },
      input_tokens: this.#input,
      output_tokens: this.#output,
      cost_usd: this.#cost === null ? null : this.#cost / 1_000_000,
    };
  }
}

function evalSummary(all: Part, byColumn: ReadonlyMap<number, Part>, columns: readonly Column[]): EvalSummary {
  const summary = all.summary();
  const inOrder = [...byColumn].toSorted(([a], [b]) => a - b);
  return {
    ...summary,
    success_interval: successInterval(summary),
    columns: inOrder.map(([position, part]) => {
      const column = columns.find((one) => one.position === position);
      return { provider: column?.provider ?? '', prompt: column?.prompt ?? '', ...part.summary() };
    }),
  };
}

const usd = ({ usdMicros, unknown }: Pick<RoleSpent, 'usdMicros' | 'unknown'>): number | null =>
  unknown > 0 ? null : usdMicros / 1_000_000;

const roleTotals = (role: RoleSpent): RoleTotals => ({
  calls: role.calls,
  input_tokens: role.inputTokens,
  output_tokens: role.outputTokens,
  cost_usd: usd(role),
});

export async function summarizeRun(run: RunStore): Promise<RunSummary> {
  const [all, evals, conversations] = [new Part(), new Part(), new Part()];
  const byColumn = new Map<number, Part>();
  const column = (position: number): Part => {
    const known = byColumn.get(position) ?? new Part();
    byColumn.set(position, known);
    return known;
  };
  const played: Row[] = [];
  const left = new Set<CaseIndex>();
  for await (const row of rowsOf(run)) {
    all.add(row);
    if (row.provisional === true) left.add(row.index);
    if (row.kind === 'conversation') {
      conversations.add(row);
      played.push(row);
      continue;
    }
    evals.add(row);
    column(row.column).add(row);
  }
  // A run under way, or one that was killed, has cases without a row.
  for await (const cases of openCasePages(run))
    for (const { index, kind, column: tested } of cases) {
      if (left.has(index)) continue;
      const parts = kind === 'conversation' ? [conversations] : [evals, column(tested.position)];
      for (const part of [all, ...parts]) part.addOpen();
    }
  const whole = all.summary();
  const roles = await run.spentByRole();
  return {
    ...summarizeBatch(played),
    ...whole,
    success_interval: successInterval(whole),
    cost_usd: usd(await run.spent()),
    input_tokens: roles.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output_tokens: roles.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    per_role: Object.fromEntries(roles.map((role) => [role.role, roleTotals(role)])),
    ...(evals.empty ? {} : { evals: evalSummary(evals, byColumn, await run.columns()) }),
    ...(conversations.empty ? {} : { conversations: conversations.summary() }),
  };
}
