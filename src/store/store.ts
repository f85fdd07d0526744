/**
 * The store as the rest of Parlane sees it: runs, what was run, the journal of steps, rows and events. SQLite implements
 * it here; another database implements it with the same queries and passes the same contract suite.
 */
import type { Case, Column } from '../domain/case.ts';
import type { StepTimes } from '../domain/effects.ts';
import type { CaseIndex, EpochMillis, LaneKey, Millis, RunId, Tokens, UsdMicros } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { LearnedLimit } from '../domain/lane.ts';
import type { Usage } from '../domain/reply.ts';
import type { Row, RowStatus } from '../domain/row.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import type { RunEvent, StopReason } from '../domain/run-event.ts';
import type { EncodedRequest } from './message-chain.ts';

export type StepKind = 'model' | 'tool' | 'webhook' | 'code' | 'clock' | 'random';

/** Whether money may have been spent twice: `maybe-again` follows a request whose answer was never seen. */
export type BillingMark = 'none' | 'once' | 'maybe-again';

export type RunStatus = 'running' | 'suspended' | 'complete';

/** The process that works on a run, so that two never do. */
export interface RunOwner {
  readonly host: string;
  readonly pid: number;
  /** Tells a process from a later one with the same number. */
  readonly startedAt: string;
  readonly seenAt: EpochMillis;
}

export interface RunRecord {
  readonly id: RunId;
  readonly name: string;
  readonly createdAt: EpochMillis;
  /** Content hash of the immutable snapshot of what was run. */
  readonly snapshot: string;
  readonly status: RunStatus;
  readonly stopReason?: StopReason;
  readonly endedAt?: EpochMillis;
  /** Time in which a process worked on it, all resumptions together. */
  readonly workedMs?: Millis;
  /** How close its last sitting came to the least possible time; absent when it made no call. */
  readonly efficiency?: RunEfficiency;
  /** Number of cases, once the whole plan has been recorded. */
  readonly planned?: number;
  /** What a person called this one run; its `name` is the suite's. */
  readonly label?: string;
  /** Not to be deleted. */
  readonly pinned?: boolean;
  /** What later runs of the project are compared with. */
  readonly baseline?: boolean;
  /** How the run was asked to behave; kept so that a resume behaves the same. */
  readonly options: Json;
  readonly owner?: RunOwner;
}

export interface NewRun {
  readonly id: RunId;
  readonly name: string;
  readonly createdAt: EpochMillis;
  /** Everything that is needed to run it again, as plain data without secrets. */
  readonly snapshot: Json;
  readonly options: Json;
}

export type RunChange = Partial<Pick<RunRecord, 'status' | 'planned' | 'endedAt' | 'workedMs' | 'efficiency'>> & {
  readonly stopReason?: StopReason | null;
  readonly owner?: RunOwner | null;
  readonly label?: string | null;
  readonly pinned?: boolean | null;
  readonly baseline?: boolean | null;
};

/** An effect that is about to happen. */
export interface Intent {
  readonly index: CaseIndex;
  readonly path: string;
  /** How often this step has been sent, this time included, from 1. */
  readonly send: number;
  readonly kind: StepKind;
  readonly request: EncodedRequest;
  readonly sentAt: EpochMillis;
  /** What it may cost at most; 0 when it costs nothing or no price is known. */
  readonly reservedUsdMicros: UsdMicros;
}

/** What an effect gave back. */
export interface Answer {
  readonly index: CaseIndex;
  readonly path: string;
  readonly send: number;
  readonly kind: StepKind;
  readonly requestHash: string;
  readonly value: Json;
  readonly provider?: string;
  readonly role?: string;
  readonly usage?: Usage;
  /** Null: no price is known. */
  readonly costUsdMicros: UsdMicros | null;
  readonly times: StepTimes;
  readonly billing: BillingMark;
  /** Kept by a fork: replayed whatever the request is now. */
  readonly pinned?: boolean;
}

/** A case's recorded steps: the newest answer per path, and how often each path was sent without one. */
export interface StepHistory {
  readonly answers: ReadonlyMap<string, Answer>;
  /** Sends per path, answered or not. */
  readonly sends: ReadonlyMap<string, number>;
}

/** A step as people look at it. */
export interface StepRecord {
  readonly index: CaseIndex;
  readonly path: string;
  readonly send: number;
  readonly kind: StepKind;
  /** Absent for clock and random reads, which have no request. */
  readonly request?: Json;
  readonly requestHash: string;
  readonly sentAt?: EpochMillis;
  /** Absent: sent, and no answer was seen. */
  readonly answer?: Answer;
}

/** What a finished case leaves to later cases of its column or conversation. */
export interface CaseWrites {
  readonly register?: { readonly name: string; readonly value: Json };
  readonly exchange?: Json;
}

export interface StoredRow {
  readonly row: Row;
  readonly writes?: CaseWrites;
}

/** Which cases to read: those without a final row, in admission order. */
export interface CaseQuery {
  readonly serial?: boolean;
  readonly kind?: Case['kind'];
  readonly provider?: string;
  /** Order by plan index instead of by admission position. */
  readonly byIndex?: boolean;
  /** Only cases after this position (or index, with `byIndex`). */
  readonly after: number;
  readonly limit: number;
}

export interface PlacedCase {
  readonly position: number;
  readonly case: Case;
}

/** Rows by status, provisional ones among them; `final` counts without those. */
export type RowCounts = Readonly<Record<RowStatus, number>> & {
  readonly total: number;
  readonly provisional: number;
  readonly final: Readonly<Record<RowStatus, number>>;
};

/** What a run's journal has cost so far. */
export interface Spent {
  readonly usdMicros: UsdMicros;
  /** Answers without a known price. */
  readonly unknown: number;
  /** Reserved for requests whose answer was never seen; they may have been billed. */
  readonly maybeUsdMicros: UsdMicros;
}

/** What one role's calls of a run have cost: `prompt`, `agent:desk`, `client`, `judge`. */
export interface RoleSpent {
  readonly role: string;
  readonly calls: number;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly usdMicros: UsdMicros;
  /** Answers without a known price. */
  readonly unknown: number;
}

/** How long a case of this name took before. */
export interface Length {
  /** Specification or prompt, by name, so that an edited one keeps its history. */
  readonly family: string;
  /** Scenario or test, by name. */
  readonly name: string;
  readonly calls: number;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly workingMs: Millis;
  /** How many finished cases the numbers are the mean of. */
  readonly seen: number;
}

/** An event as stored: a case's end refers to its row instead of repeating it. */
export type StoredEvent =
  | Exclude<RunEvent, { type: 'case-start' | 'case-end' }>
  | (Omit<Extract<RunEvent, { type: 'case-start' }>, 'column'> & { readonly column?: number })
  | Omit<Extract<RunEvent, { type: 'case-end' }>, 'row'>;

export interface ForkRecord {
  readonly run: RunId;
  readonly parent: RunId;
  readonly index: CaseIndex;
  /** What was kept, in words ("turns 1..4"). */
  readonly keep: string;
}

/** One run's part of the store. */
export interface RunStore {
  readonly id: RunId;
  record(): Promise<RunRecord>;
  change(change: RunChange): Promise<void>;
  /** Makes `owner` the one process that works on the run; gives back who else does when that one may not be replaced. */
  claim(owner: RunOwner, mayTake: (other: RunOwner) => boolean): Promise<RunOwner | undefined>;
  snapshot(): Promise<Json>;

  /** Adds cases of the plan; a key that is already there is a problem of the plan, told as an error. */
  addCases(cases: readonly PlacedCase[]): Promise<void>;
  /** Cases that still need a final row. */
  openCases(query: CaseQuery): Promise<readonly PlacedCase[]>;
  /** How many they are, by the provider of their column. */
  openCounts(): Promise<ReadonlyMap<string, number>>;
  case(index: CaseIndex): Promise<Case | undefined>;
  /** Number of recorded cases, and the position after the last. */
  caseCount(): Promise<{ readonly cases: number; readonly nextPosition: number }>;
  /** Whether recorded cases depend on each other: a serial phase, registers or conversation keys. */
  traits(): Promise<{ readonly serial: boolean; readonly stateful: boolean }>;
  /** The table's columns, by position. */
  columns(): Promise<readonly Column[]>;
  /** The first case of each column, by its position. */
  columnCases(): Promise<readonly Case[]>;
  /** Providers of the columns of all recorded cases. */
  providers(): Promise<readonly string[]>;

  /** Committed (not necessarily synced) when it resolves. */
  intend(intent: Intent): Promise<void>;
  /** On disk when it resolves. */
  answer(answer: Answer): Promise<void>;
  /** Written in order with everything else, without waiting: for reads that cost nothing. */
  note(answer: Answer): void;
  history(index: CaseIndex): Promise<StepHistory>;
  /** Cases that have at least one recorded step and no final row. */
  begun(): Promise<ReadonlySet<CaseIndex>>;
  /** All steps of a case, in the order in which they were sent. */
  steps(index: CaseIndex): Promise<readonly StepRecord[]>;
  spent(): Promise<Spent>;
  /** The same by role; together they are what was spent. */
  spentByRole(): Promise<readonly RoleSpent[]>;

  /** On disk when it resolves. Replaces a provisional row, never a final one. */
  saveRow(row: Row, writes?: CaseWrites): Promise<void>;
  /** The same for several rows, all of them or none. */
  saveRows(rows: readonly StoredRow[]): Promise<void>;
  /**
   * Makes a finished case open again: its row becomes provisional, and the answers that `keep` refuses are forgotten, so
   * that they are asked for again. How often they were sent stays known.
   */
  reopen(index: CaseIndex, keep: (answer: Answer) => boolean): Promise<void>;
  /** Rows in plan order. */
  rows(query: { readonly after: number; readonly limit: number }): Promise<readonly StoredRow[]>;
  rowCounts(): Promise<RowCounts>;

  /** Appends to the run's log in order, without waiting. */
  log(events: readonly StoredEvent[]): void;
  events(query: {
    readonly after: number;
    readonly limit: number;
  }): Promise<{ events: readonly StoredEvent[]; next: number }>;
}

export interface Store {
  /** Where it is, for messages. */
  readonly location: string;
  createRun(run: NewRun): Promise<RunStore>;
  openRun(id: RunId): Promise<RunStore | undefined>;
  /** Newest first. */
  runs(): Promise<readonly RunRecord[]>;
  /** Takes a run away with everything that only it used. Nobody may be working on it. */
  deleteRun(id: RunId): Promise<void>;

  saveLimits(lane: LaneKey, limits: readonly LearnedLimit[]): Promise<void>;
  limits(lane: LaneKey): Promise<readonly LearnedLimit[]>;
  saveLengths(lengths: readonly Length[]): Promise<void>;
  lengths(family: string): Promise<readonly Length[]>;

  /** Notes that `run` continues a case of `parent`, and copies the kept answers into it, pinned. */
  saveFork(fork: ForkRecord, kept: readonly Answer[]): Promise<void>;
  forks(): Promise<readonly ForkRecord[]>;

  /** Resolves when everything written so far is on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
