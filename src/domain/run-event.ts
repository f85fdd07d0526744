import type { Column } from './case.ts';
import type { CaseIndex, EpochMillis, RunId, UsdMicros } from './ids.ts';
import type { LaneEvent } from './lane.ts';
import type { Row, RowStatus } from './row.ts';
import type { RunEfficiency } from './run-efficiency.ts';

export interface RunTotals {
  readonly planned: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly skipped: number;
  /** Without an end of their own: cancelled by somebody, or open. */
  readonly aborted: number;
  /** Of the aborted, those that a resume plays; absent in events of earlier versions. */
  readonly open?: number;
}

/** Cases that somebody cancelled: they are over, and no resume plays them. */
export const cancelledOf = ({ aborted, open = 0 }: Pick<RunTotals, 'aborted' | 'open'>): number => aborted - open;

/** Why a run stopped before its plan was done; every one of them can be resumed. */
export type StopReason = 'budget' | 'max-duration' | 'interrupted' | 'parked' | 'storage';

/** What a run has paid for the answers it recorded. */
export interface RunSpend {
  readonly usdMicros: UsdMicros;
  /** Answers without a known price. */
  readonly unknown: number;
}

/** Why a spend cap lets no further call go. */
export interface BudgetNeed {
  readonly capUsdMicros: UsdMicros;
  /** What is left of the cap. */
  readonly leftUsdMicros: UsdMicros;
  /** The most that the next call may cost. */
  readonly nextUsdMicros: UsdMicros;
  /** The least cap with which it may go. */
  readonly enoughUsdMicros: UsdMicros;
}

/** Everything that happens in a run, in one order, for every observer alike. */
export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly run: RunId;
      readonly at: EpochMillis;
      readonly planned: number;
      readonly resumed: boolean;
      /** What earlier sittings have brought; absent in a new run. */
      readonly soFar?: RunTotals;
    }
  | {
      readonly type: 'case-start';
      readonly index: CaseIndex;
      readonly name: string;
      readonly at: EpochMillis;
      /** What is tested. Not written as JSON, where rows name their column. */
      readonly column?: Column;
    }
  | {
      readonly type: 'case-progress';
      readonly index: CaseIndex;
      readonly at: EpochMillis;
      /** For a person: "turn 6 of 12, lookup_order". */
      readonly note: string;
    }
  | {
      readonly type: 'case-end';
      readonly index: CaseIndex;
      readonly at: EpochMillis;
      readonly status: RowStatus;
      readonly row: Row;
      readonly completed: number;
      readonly total: number;
    }
  | ({ readonly type: 'spend'; readonly at: EpochMillis } & RunSpend)
  | { readonly type: 'warning'; readonly at: EpochMillis; readonly message: string }
  | {
      readonly type: 'run-stop';
      readonly at: EpochMillis;
      readonly reason: StopReason;
      readonly until?: EpochMillis;
      /** What the spend cap lacks, when it is the reason. */
      readonly need?: BudgetNeed;
    }
  | {
      readonly type: 'run-end';
      readonly run: RunId;
      readonly at: EpochMillis;
      readonly totals: RunTotals;
      readonly complete: boolean;
      /** The whole run, earlier processes included; the same as the last `spend`. */
      readonly spent?: RunSpend;
      /** How close to the least possible time it came, and where the time went; absent when no call was made. */
      readonly efficiency?: RunEfficiency;
    }
  | LaneEvent;
