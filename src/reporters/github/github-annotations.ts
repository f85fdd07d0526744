import { caseNumber } from '../../domain/ids.ts';
import { counted, duration, money } from '../../domain/measures.ts';
import type { Row } from '../../domain/row.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { failureReason } from '../failure-reason.ts';
import type { RunObserver, TextSink } from '../observer.ts';

export interface GithubOptions {
  /** Standard output: the runner reads commands from there. */
  readonly sink: TextSink;
  /** The config, relative to the repository: where the annotations point. */
  readonly file?: string;
  /** Where the step's summary goes (the file named by GITHUB_STEP_SUMMARY). */
  readonly summary?: TextSink;
}

/** GitHub shows ten annotations of a kind per step. */
const mostShown = 10;
const mostListed = 50;

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
const cell = (text: string): string =>
  text
    .replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
    .trim()
    .slice(0, 160)
    .replace(/[|`<]/g, (character) => ({ '|': '\\|', '`': "'", '<': '&lt;' })[character] ?? '');

/** One annotation in the form GitHub's runner reads; what a model wrote cannot end it early or start another. */
export function annotation(
  level: 'error' | 'warning' | 'notice',
  title: string,
  message: string,
  file?: string,
): string {
  const properties = [...(file === undefined ? [] : [`file=${property(file)}`]), `title=${property(title)}`];
  return `::${level} ${properties.join(',')}::${data(message)}\n`;
}

function summaryMarkdown(
  end: RunEvent & { type: 'run-end' },
  tookMs: number,
  spent: number,
  listed: readonly Row[],
): string {
  const { totals } = end;
  const lines = [
    `### ${totals.failed + totals.errors === 0 ? 'Passed' : 'Not passed'}: run ${end.run}`,
    '',
    '| cases | passed | failed | errors | time | cost |',
    '|---:|---:|---:|---:|---:|---:|',
    `| ${totals.planned} | ${totals.passed} | ${totals.failed} | ${totals.errors} | ${duration(tookMs)} | ${money(spent)} |`,
  ];
  if (listed.length > 0) lines.push('', '| | case | why |', '|---|---|---|');
  for (const row of listed) {
    const word = row.status === 'failed' ? 'failed' : 'error';
    lines.push(`| ${word} | #${caseNumber(row.index)} ${cell(row.name)} | ${cell(failureReason(row))} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** Failures as annotations on a pull request, and a summary of the step. */
export function githubAnnotations(options: GithubOptions): RunObserver {
  const listed: Row[] = [];
  let annotated = 0;
  let startedAt = 0;
  let spent = 0;
  let end: (RunEvent & { type: 'run-end' }) | undefined;
  const noteCase = (row: Row): void => {
    if (row.status !== 'failed' && row.status !== 'error') return;
    if (listed.length < mostListed) listed.push({ ...row, detail: null, output: null });
    annotated++;
    if (annotated > mostShown) return;
    const level = row.status === 'failed' ? 'error' : 'warning';
    options.sink.write(annotation(level, `#${caseNumber(row.index)} ${row.name}`, failureReason(row), options.file));
  };
  return {
    observe(event) {
      if (event.type === 'run-start') startedAt = event.at;
      if (event.type === 'spend') spent = event.usdMicros;
      if (event.type === 'case-end') noteCase(event.row);
      if (event.type === 'run-end') end = event;
    },
    async finish() {
      if (end === undefined) return;
      const { totals } = end;
      const text = `${counted(totals.planned, 'case')}: ${totals.passed} passed, ${totals.failed} failed, ${counted(totals.errors, 'error')}`;
      const more = annotated > mostShown ? ` (${annotated - mostShown} more not annotated)` : '';
      options.sink.write(annotation('notice', 'Parlane', text + more, options.file));
      await options.summary?.write(summaryMarkdown(end, end.at - startedAt, spent, listed));
    },
  };
}
