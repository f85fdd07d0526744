/** The tables, as every implementation of the store has them. Times are epoch milliseconds, money is USD micros. */

/** Raised by one with every migration; a store with a higher number was written by a newer Parlane. */
export const schemaVersion = 1;

interface Checked {
  /** Checksum over all other columns: a changed byte inside a row is found when the row is read. */
  crc: number;
}

export interface RunsTable extends Checked {
  number: number;
  id: string;
  created_at: number;
  body: string;
}

export interface BlobsTable extends Checked {
  hash: string;
  body: string;
}

/** One message after another: a conversation's history is a chain, and equal beginnings are the same rows. */
export interface MessagesTable extends Checked {
  hash: string;
  parent: string;
  body: string;
}

export interface CasesTable extends Checked {
  run: number;
  idx: number;
  position: number;
  key: string;
  /** Position of its column. */
  col: number;
  provider: string;
  kind: string;
  serial: number;
  /** Stores its output or belongs to a conversation key. */
  stateful: number;
  body: string;
}

export interface IntentsTable extends Checked {
  run: number;
  idx: number;
  path: string;
  send: number;
  kind: string;
  request_hash: string;
  request: string;
  /** Last message of the request's history, or the empty text. */
  history: string;
  sent_at: number;
  reserved: number;
}

export interface AnswersTable extends Checked {
  run: number;
  idx: number;
  path: string;
  send: number;
  kind: string;
  request_hash: string;
  value: string;
  /** The body exactly as received, when there was one. */
  raw: string | null;
  provider: string | null;
  role: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  /** Null: the price is unknown. */
  cost: number | null;
  started_at: number;
  ended_at: number;
  queue_ms: number;
  backoff_ms: number;
  latency_ms: number;
  attempts: number;
  billing: string;
  pinned: number;
}

export interface RowsTable extends Checked {
  run: number;
  idx: number;
  status: string;
  provisional: number;
  body: string;
  writes: string | null;
}

export interface EventsTable extends Checked {
  run: number;
  seq: number;
  body: string;
}

export interface LaneLimitsTable extends Checked {
  lane: string;
  resource: string;
  body: string;
}

export interface LengthsTable extends Checked {
  family: string;
  name: string;
  body: string;
}

export interface ForksTable extends Checked {
  run: number;
  parent: number;
  idx: number;
  keep: string;
}

export interface CommitsTable {
  id: number;
  seq: number;
}

export interface Schema {
  runs: RunsTable;
  blobs: BlobsTable;
  messages: MessagesTable;
  cases: CasesTable;
  intents: IntentsTable;
  answers: AnswersTable;
  rows: RowsTable;
  events: EventsTable;
  lane_limits: LaneLimitsTable;
  lengths: LengthsTable;
  forks: ForksTable;
  commits: CommitsTable;
}
