import { gzipSync } from 'node:zlib';
import { caseNumber } from '../../domain/ids.ts';
import type { Json } from '../../domain/json.ts';
import { type Row, shownStatus } from '../../domain/row.ts';
import {
  checkName,
  checksOf,
  conversationOf,
  type EntryView,
  type Mark,
  marksOf,
  promptOf,
  turnWords,
} from '../conversation-view.ts';
import { failureReason } from '../failure-reason.ts';
import { dataJson, excerpt } from './markup.ts';

/**
 * Rows inside the report. The table's part of a row is a short list in plain JSON; everything long is packed (gzip,
 * base64) in blocks that the page opens when somebody looks. The page's script knows these shapes: change both.
 */

/** `[case, name, column, repeat, status, score, turns, latencyMs, costMicros, reason, output, change]` */
export type RowSummary = readonly [
  number,
  string,
  number,
  number,
  string,
  number | null,
  number,
  number,
  number | null,
  string,
  string,
  string,
];

/** Longer texts are cut, with a word about it: one broken answer must not make a report unusable. */
const longestText = 100_000;

const asText = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

const limited = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}\n[cut: ${text.length} characters in all]`;

function rowSummary(row: Row, change: string): RowSummary {
  return [
    caseNumber(row.index),
    excerpt(row.name, 160),
    row.column,
    row.repeat,
    shownStatus(row),
    row.score === null ? null : Math.round(row.score * 1000) / 1000,
    conversationOf(row)?.turns ?? 0,
    Math.round(row.latencyMs),
    row.costUsdMicros,
    row.status === 'passed' ? '' : excerpt(failureReason(row), 160),
    excerpt(asText(row.output), 120),
    change,
  ];
}

const entryDetail = (entry: EntryView, marks: readonly Mark[]): object => ({
  turn: entry.turn,
  side: entry.side,
  agent: entry.agent,
  text: limited(entry.content),
  ms: entry.latencyMs,
  queueMs: entry.queueMs,
  tools: entry.tools.map((tool) => ({
    name: tool.name,
    arguments: limited(tool.arguments),
    result: limited(asText(tool.result)),
    kind: tool.kind,
  })),
  ...(marks.length === 0 ? {} : { marks: marks.map((mark) => ({ ...mark, what: limited(mark.what) })) }),
});

export function rowDetail(row: Row): object {
  const conversation = conversationOf(row);
  const marks = conversation === undefined ? undefined : marksOf(conversation, checksOf(row.verdict));
  return {
    kind: row.kind,
    prompt: conversation === undefined ? limited(promptOf(row)) : '',
    output: conversation === undefined ? limited(asText(row.output)) : '',
    entries: conversation?.entries.map((entry) => entryDetail(entry, marks?.get(entry) ?? [])),
    ended: conversation?.endedBy,
    error: row.error === undefined ? '' : `${row.error.code}: ${row.error.message}`,
    checks: checksOf(row.verdict).map((check) => ({
      name: checkName(check),
      pass: check.pass,
      score: check.score,
      reason: limited(check.reason),
      error: check.error,
      turns: turnWords(check),
    })),
    queueMs: row.queueMs,
    backoffMs: row.backoffMs,
    attempts: row.attempts,
    inputTokens: row.usage?.inputTokens,
    outputTokens: row.usage?.outputTokens,
  };
}

const pack = (details: readonly string[]): string =>
  gzipSync(`[${details.join(',')}]`, { level: 7 }).toString('base64');

const summariesPerBlock = 500;
/** Opened as one piece: small enough to be quick, large enough to pack well. */
const detailCharacters = 200_000;

/** Turns rows into blocks of the report as they stream by. */
export interface RowBlocks {
  /** Markup that is ready to be written, often empty. */
  add(row: Row, change: string): string;
  end(): string;
}

export function rowBlocks(): RowBlocks {
  let summaries: RowSummary[] = [];
  let details: string[] = [];
  let characters = 0;
  let first = 0;
  const summaryBlock = (): string => {
    if (summaries.length === 0) return '';
    const block = `<script type="application/json" class="rows">${dataJson(summaries)}</script>\n`;
    summaries = [];
    return block;
  };
  const detailBlock = (): string => {
    if (details.length === 0) return '';
    const block = `<script type="text/plain" class="details" data-first="${first}">${pack(details)}</script>\n`;
    first += details.length;
    details = [];
    characters = 0;
    return block;
  };
  return {
    add(row, change) {
      summaries.push(rowSummary(row, change));
      const detail = JSON.stringify(rowDetail(row));
      details.push(detail);
      characters += detail.length;
      const ready = summaries.length >= summariesPerBlock ? summaryBlock() : '';
      return characters >= detailCharacters ? ready + detailBlock() : ready;
    },
    end: () => summaryBlock() + detailBlock(),
  };
}
