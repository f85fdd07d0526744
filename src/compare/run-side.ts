import type { CaseIndex } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';

/** What comparing reads of a row. */
export type ComparedRow = Pick<
  Row,
  | 'index'
  | 'key'
  | 'name'
  | 'kind'
  | 'column'
  | 'repeat'
  | 'status'
  | 'score'
  | 'output'
  | 'latencyMs'
  | 'costUsdMicros'
  | 'verdict'
>;

/** All repeats of one case in one run. */
export interface CaseGroup {
  readonly label: string;
  readonly name: string;
  /** The index of its first repeat: what people call it. */
  readonly index: CaseIndex;
  readonly keys: string[];
  tries: number;
  passed: number;
  /** Tries that say nothing about the answer: infrastructure errors, skipped, aborted. */
  unscored: number;
  scores: number;
  scoreSum: number;
  outputHash: number;
  /** The first output that failed, else the first, cut: enough to recognise it. */
  excerpt: string;
  reason: string;
}

/** One run, boiled down while its rows stream by: memory grows with cases, not with their texts. */
export interface RunSide {
  readonly name: string;
  readonly groups: ReadonlyMap<string, CaseGroup>;
  readonly rows: number;
  /** Null when any part has no known price. */
  readonly costUsdMicros: number | null;
  readonly latencyMs: number;
  readonly durationMs: number | undefined;
}

export interface RunSideBuilder {
  add(row: ComparedRow): void;
  build(): RunSide;
}

const excerptLength = 240;

const textOf = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output));

function hash(text: string, seed: number): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

function newGroup(label: string, row: ComparedRow): CaseGroup {
  return {
    label,
    name: row.name,
    index: row.index,
    keys: [],
    tries: 0,
    passed: 0,
    unscored: 0,
    scores: 0,
    scoreSum: 0,
    outputHash: 0x811c9dc5,
    excerpt: '',
    reason: '',
  };
}

function count(group: CaseGroup, row: ComparedRow): void {
  const text = textOf(row.output);
  const isAnswer = row.status === 'passed' || row.status === 'failed';
  group.keys.push(row.key);
  group.outputHash = hash(text, group.outputHash);
  if (!isAnswer) group.unscored++;
  else {
    group.tries++;
    if (row.status === 'passed') group.passed++;
    if (row.score !== null) {
      group.scores++;
      group.scoreSum += row.score;
    }
  }
  if (group.excerpt === '' || (row.status === 'failed' && group.reason === '')) {
    group.excerpt = text.slice(0, excerptLength);
  }
  if (row.status === 'failed' && group.reason === '') {
    group.reason = (row.verdict?.reason ?? '').slice(0, excerptLength);
  }
}

/**
 * Collects one run's rows. Repeats of a case share name, kind and column; equal names within one repeat are told apart
 * by their order.
 */
export function runSide(name: string, durationMs?: number): RunSideBuilder {
  const groups = new Map<string, CaseGroup>();
  const seen = new Map<string, number>();
  let rows = 0;
  let cost: number | null = 0;
  let latencyMs = 0;
  return {
    add(row) {
      const base = `${row.kind}\u0000${row.name}\u0000${row.column}`;
      const place = `${base}\u0000${row.repeat}`;
      const nth = seen.get(place) ?? 0;
      seen.set(place, nth + 1);
      const label = `${base}\u0000${nth}`;
      let group = groups.get(label);
      if (group === undefined) {
        group = newGroup(label, row);
        groups.set(label, group);
      }
      count(group, row);
      rows++;
      latencyMs += row.latencyMs;
      cost = cost === null || row.costUsdMicros === null ? null : cost + row.costUsdMicros;
    },
    build: () => ({ name, groups, rows, costUsdMicros: cost, latencyMs, durationMs }),
  };
}
