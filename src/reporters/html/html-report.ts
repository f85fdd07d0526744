import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Comparison } from '../../compare/compare-runs.ts';
import { clock, counted, duration, money, percent } from '../../domain/measures.ts';
import type { Row } from '../../domain/row.ts';
import { cancelledOf } from '../../domain/run-event.ts';
import { chunkedWriter } from '../chunked-writer.ts';
import { efficiencyWords } from '../efficiency-words.ts';
import type { TextSink } from '../observer.ts';
import type { RunInfo, RunReader } from '../run-reader.ts';
import { changeMarks, comparisonSection } from './comparison-section.ts';
import { lanesOf, lanesSection } from './lanes-picture.ts';
import { dataJson, html } from './markup.ts';
import { rowBlocks } from './report-rows.ts';
import { type ColumnStatistics, columnStatistics, percentile } from './run-statistics.ts';

/**
 * One file that holds a whole run and opens from disk.
 *
 * 1. Nothing is fetched: styles and script stand inside, and the page's policy forbids every request.
 * 2. Only the page's own script runs: the policy names it by its hash. What models wrote is data, shown as text.
 * 3. Memory is flat: rows stream through; two passes over them, one over the events.
 * 4. Summary, lanes and comparison are plain markup and need no script.
 */
export interface HtmlReportOptions {
  readonly comparison?: Comparison;
  readonly redact?: (row: Row) => Row;
  readonly labels?: Readonly<Record<string, string>>;
}

const asset = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function head(info: RunInfo, style: string, script: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return (
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n` +
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n` +
    `<meta name="referrer" content="no-referrer">\n<title>${html(titleOf(info))}</title>\n<style>${style}</style>\n</head>\n<body>\n`
  );
}

const titleOf = (info: RunInfo): string => (info.title === '' ? `Run ${info.id}` : `${info.title}, run ${info.id}`);

function card(name: string, value: string, kind = ''): string {
  return `<div${kind === '' ? '' : ` class="${kind}"`}><dt>${html(name)}</dt><dd>${html(value)}</dd></div>`;
}

function summary(info: RunInfo, columns: readonly ColumnStatistics[], labels: HtmlReportOptions['labels']): string {
  const { totals } = info;
  const answered = totals.passed + totals.failed;
  const costs = columns.map(({ costUsdMicros }) => costUsdMicros);
  const cost = costs.includes(null) ? null : costs.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const cards = [
    card('passed', answered === 0 ? '-' : `${percent(totals.passed / answered)}`),
    card('cases', String(totals.planned)),
    card('failed', String(totals.failed), totals.failed > 0 ? 'bad' : ''),
    card('errors', String(totals.errors), totals.errors > 0 ? 'warn' : ''),
    ...(totals.skipped > 0 ? [card('skipped', String(totals.skipped))] : []),
    ...(cancelledOf(totals) > 0 ? [card('cancelled', String(cancelledOf(totals)))] : []),
    ...(totals.open ? [card('open', String(totals.open))] : []),
    card('time', info.durationMs === undefined ? '-' : duration(info.durationMs)),
    card('cost', money(cost)),
  ];
  const state = info.complete
    ? ''
    : '<p class="verdict">This run is not complete: it was stopped and can be resumed.</p>';
  const { efficiency } = info;
  const close =
    efficiency === undefined || !info.complete
      ? ''
      : `<p class="efficiency">${html(efficiencyWords(efficiency, labels))}.</p>`;
  const facts = Object.entries(info.facts ?? {}).map(([name, value]) => `<li>${html(name)}: ${html(value)}</li>`);
  return (
    `<section id="summary" aria-label="Summary"><dl class="cards">${cards.join('')}</dl>${state}${close}` +
    `${facts.length === 0 ? '' : `<ul class="facts">${facts.join('')}</ul>`}${columnTable(info, columns)}</section>\n`
  );
}

function columnTable(info: RunInfo, columns: readonly ColumnStatistics[]): string {
  const heads = ['model', 'prompt', 'cases', 'passed', 'failed', 'errors', 'mean score', 'p50', 'p95', 'cost'];
  const rows = columns.map((column) => {
    const about = info.columns.find(({ position }) => position === column.position);
    const answered = column.passed + column.failed;
    const cells = [
      about?.prompt ?? '',
      column.cases,
      answered === 0 ? '-' : percent(column.passed / answered),
      column.failed,
      column.errors,
      column.scores === 0 ? '-' : (column.scoreSum / column.scores).toFixed(2),
      duration(percentile(column.latencies, 0.5)),
      duration(percentile(column.latencies, 0.95)),
      money(column.costUsdMicros),
    ];
    return `<tr><th scope="row">${html(about?.provider ?? `column ${column.position + 1}`)}</th>${cells.map((cell) => `<td>${html(cell)}</td>`).join('')}</tr>`;
  });
  return `<table class="plain figures"><thead><tr>${heads.map((each) => `<th scope="col">${each}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function masthead(info: RunInfo): string {
  const started = new Date(info.startedAt).toISOString().slice(0, 16).replace('T', ' ');
  return (
    `<a class="skip" href="#results">Skip to the results</a>\n<header><h1>${html(titleOf(info))}</h1>` +
    `<p>${html(started)} UTC${info.durationMs === undefined ? '' : `, took ${html(clock(info.durationMs))}`}, ${html(counted(info.totals.planned, 'case'))}</p>` +
    `<button type="button" id="theme" hidden>Theme: system</button></header>\n<main>\n`
  );
}

/** Writes the report; the sink may ask the writer to wait. */
export async function writeHtmlReport(
  reader: RunReader,
  sink: TextSink,
  options: HtmlReportOptions = {},
): Promise<void> {
  const writer = chunkedWriter(sink);
  const info = await reader.info();
  const columns = await columnStatistics(reader);
  const lanes = await lanesOf(reader);
  const [style, script] = [asset('report-page.css'), asset('report-page.js')];
  const marks = changeMarks(options.comparison);
  await writer.write(head(info, style, script) + masthead(info) + summary(info, columns, options.labels));
  await writer.write(`${lanesSection(lanes, options.labels ?? {})}\n`);
  if (options.comparison !== undefined) await writer.write(`${comparisonSection(options.comparison)}\n`);
  await writer.write(`${asset('results.html')}</main>\n`);
  const names = info.columns.map(({ position, provider, prompt }) => [position, provider, prompt]);
  await writer.write(`<script type="application/json" id="columns">${dataJson(names)}</script>\n`);
  const blocks = rowBlocks();
  for await (const each of reader.rows()) {
    const row = options.redact?.(each) ?? each;
    const ready = blocks.add(row, marks.get(row.index) ?? '');
    if (ready !== '') await writer.write(ready);
  }
  await writer.write(`${blocks.end()}<script>${script}</script>\n</body>\n</html>\n`);
  await writer.flush();
}
