import type { EpochMillis, LaneKey } from './ids.ts';

/** A guess with its honest width. */
export interface Range {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

/** What one lane is expected to do. */
export interface LaneForecast {
  readonly lane: LaneKey;
  /** Cases whose own column runs here; 0 for lanes that only serve others (clients, judges). */
  readonly cases: number;
  readonly calls: Range;
  readonly tokens: Range;
  readonly timeMs: Range;
  /** Null when the price is unknown, which is not 0. */
  readonly costUsdMicros: Range | null;
  /** What decides how long it takes, for a person: "120 requests/min", "conversation turns", "follows sim:fast". */
  readonly boundBy: string;
}

/** What a run is expected to take, before anything is sent. */
export interface Forecast {
  readonly cases: number;
  readonly lanes: readonly LaneForecast[];
  readonly timeMs: Range;
  readonly costUsdMicros: Range | null;
  /** The lane that finishes last. */
  readonly decidedBy: LaneKey | undefined;
  /** What it rests on: "3 past runs", "a pilot of 5", "no past runs: lengths are guessed". */
  readonly basis: string;
  /** The date of the price table. */
  readonly pricesFrom?: string;
  readonly madeAt?: EpochMillis;
}
