import { caseNumber } from '../domain/ids.ts';
import { clock, counted, duration, money, percent } from '../domain/measures.ts';
import type { CaseChange, Comparison, OnlyCase } from './compare-runs.ts';

const probability = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(p < 0.095 ? 3 : 2)}`);

const points = (share: number): string => `${share < 0 ? '-' : '+'}${Math.abs(share * 100).toFixed(1)}`;

/** What the numbers mean, in one or two sentences. */
export function comparisonVerdict(comparison: Comparison): string {
  const { passRate, verdict } = comparison;
  switch (verdict) {
    case 'nothing-to-compare':
      return 'No case was scored in both runs: there is nothing to compare.';
    case 'same':
      return `Pass rate ${rateChange(passRate)}: every case has the same verdict in both runs.`;
    case 'may-be-chance':
      return `Pass rate ${rateChange(passRate)}.  With ${counted(scoredCases(comparison), 'case')} this may be chance (${probability(comparison.p)})${advice(comparison)}`;
    default:
      return `Pass rate ${rateChange(passRate)}: really ${verdict} (${probability(comparison.p)}; ${interval(passRate)}).`;
  }
}

const scoredCases = ({ better, worse, same }: Comparison): number => better.length + worse.length + same;

const rateChange = (rate: Comparison['passRate']): string =>
  rate === null ? 'unknown' : `${percent(rate.before)} -> ${percent(rate.after)}`;

const interval = (rate: Comparison['passRate']): string =>
  rate === null ? '' : `95 % interval ${points(rate.interval.low)} to ${points(rate.interval.high)} points`;

function advice({ settle, better, worse }: Comparison): string {
  if (better.length === worse.length) return ': as many got better as got worse.';
  if (settle === null) return '; more than 50 repeats would be needed to tell.';
  const price: string[] = [];
  if (settle.costUsdMicros !== null) price.push(`about ${money(settle.costUsdMicros)}`);
  if (settle.durationMs !== undefined) {
    price.push(settle.durationMs < 60_000 ? duration(settle.durationMs) : `${clock(settle.durationMs)} minutes`);
  }
  const cost = price.length === 0 ? '' : ` and cost ${price.join(' and ')}`;
  return `; \`--repeat ${settle.repeat}\` would tell${cost}.`;
}

const numbers = (cases: readonly { after: { index: CaseChange['after']['index'] } }[], most: number): string => {
  const shown = cases.slice(0, most).map(({ after }) => `#${caseNumber(after.index)}`);
  const more = cases.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
};

const onlyLine = (name: string, only: readonly OnlyCase[]): string[] =>
  only.length === 0 ? [] : [`  only in ${name}  ${only.length}`];

/** The comparison for a terminal: plain text, one screen. */
export function comparisonText(comparison: Comparison, options: { readonly worseOnly?: boolean } = {}): string {
  const { better, worse } = comparison;
  const lines = [`${comparison.after} against ${comparison.before} (${counted(comparison.inBoth, 'case')} in both)`];
  const width = Math.max(4, String(comparison.inBoth).length + 2);
  const line = (word: string, count: number, tail = ''): string =>
    `  ${word.padEnd(8)}${String(count).padStart(width)}   ${tail}`.trimEnd();
  if (options.worseOnly !== true) lines.push(line('better', better.length, numbers(better, 12)));
  lines.push(line('worse', worse.length, numbers(worse, 12)));
  if (options.worseOnly !== true) {
    const texts = comparison.sameVerdictNewText;
    lines.push(line('same', comparison.same, texts > 0 ? `${texts} of them with a new text` : ''));
    if (comparison.unscored.length > 0)
      lines.push(
        line('unscored', comparison.unscored.length, 'an error in one of the runs, which is not a wrong answer'),
      );
    lines.push(...onlyLine(comparison.before, comparison.onlyBefore));
    lines.push(...onlyLine(comparison.after, comparison.onlyAfter));
  }
  for (const change of worse.slice(0, 20)) {
    lines.push(
      `  WORSE  #${caseNumber(change.after.index)}  ${change.name}  ${tries(change)}  ${oneLine(change.after.reason)}`.trimEnd(),
    );
  }
  lines.push(comparisonVerdict(comparison), ...extras(comparison));
  return `${lines.join('\n')}\n`;
}

const tries = ({ before, after }: CaseChange): string =>
  before.tries === 1 && after.tries === 1 ? '' : `${before.passed}/${before.tries} -> ${after.passed}/${after.tries}`;

/** Control characters out, spaces together: model output never steers a terminal or a table. */
const oneLine = (text: string): string =>
  text
    .replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
    .trim()
    .slice(0, 120);

function extras(comparison: Comparison): string[] {
  const lines: string[] = [];
  const { score, cost, durationMs } = comparison;
  if (score !== null)
    lines.push(`Mean score ${score.before.toFixed(2)} -> ${score.after.toFixed(2)} (${probability(score.p)}).`);
  const parts: string[] = [];
  if (cost.before !== null && cost.after !== null && cost.before + cost.after > 0)
    parts.push(`Cost ${money(cost.before)} -> ${money(cost.after)}`);
  if (durationMs.before !== null && durationMs.after !== null)
    parts.push(`time ${duration(durationMs.before)} -> ${duration(durationMs.after)}`);
  if (parts.length > 0) {
    const text = parts.join(', ');
    lines.push(`${text[0]?.toUpperCase()}${text.slice(1)}.`);
  }
  return lines;
}

/** In Markdown, for a pull request. Model output stands in code spans, so that it cannot format or link anything. */
export function comparisonMarkdown(comparison: Comparison): string {
  const cell = (text: string): string => oneLine(text).replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const code = (text: string): string =>
    oneLine(text) === '' ? '' : `\`${oneLine(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
  const table = (title: string, changes: readonly CaseChange[]): string[] => {
    if (changes.length === 0) return [];
    const rows = changes.slice(0, 50).map((change) => {
      const passed = `${change.before.passed}/${change.before.tries} -> ${change.after.passed}/${change.after.tries}`;
      return `| #${caseNumber(change.after.index)} | ${cell(change.name)} | ${passed} | ${code(change.after.reason || change.after.excerpt)} |`;
    });
    const more = changes.length > 50 ? [`\nand ${changes.length - 50} more`] : [];
    return [
      '',
      `### ${title} (${changes.length})`,
      '',
      '| | case | passed | now |',
      '|---|---|---|---|',
      ...rows,
      ...more,
    ];
  };
  const { better, worse, same, unscored, onlyBefore, onlyAfter } = comparison;
  const lines = [
    `## ${cell(comparison.after)} against ${cell(comparison.before)}`,
    '',
    comparisonVerdict(comparison),
    ...extras(comparison).map((line) => `${line}`),
    '',
    '| better | worse | same | unscored | only before | only after |',
    '|---:|---:|---:|---:|---:|---:|',
    `| ${better.length} | ${worse.length} | ${same} | ${unscored.length} | ${onlyBefore.length} | ${onlyAfter.length} |`,
    ...table('Worse', worse),
    ...table('Better', better),
  ];
  return `${lines.join('\n')}\n`;
}

/** As data: versioned, so that scripts may rely on it. */
export const comparisonJson = (comparison: Comparison): string =>
  `${JSON.stringify({ version: 1, summary: comparisonVerdict(comparison), ...comparison }, null, 2)}\n`;
