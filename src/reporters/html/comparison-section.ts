import type { CaseChange, Comparison } from '../../compare/compare-runs.ts';
import { comparisonVerdict } from '../../compare/render-comparison.ts';
import { caseNumber } from '../../domain/ids.ts';
import { excerpt, html } from './markup.ts';

/** Longest list; the table of results filters the rest. */
const mostListed = 200;

function side(passed: number, tries: number, text: string): string {
  const verdict = tries === 1 ? (passed === 1 ? 'passed' : 'failed') : `${passed} of ${tries} passed`;
  return `<td><span class="word">${verdict}</span> <q dir="auto">${html(excerpt(text, 200))}</q></td>`;
}

function table(title: string, changes: readonly CaseChange[], open: boolean): string {
  if (changes.length === 0) return '';
  const rows = changes
    .slice(0, mostListed)
    .map(
      ({ name, before, after }) =>
        `<tr><td><a href="#case-${caseNumber(after.index)}">#${caseNumber(after.index)}</a></td><th scope="row">${html(excerpt(name, 120))}</th>` +
        `${side(before.passed, before.tries, before.excerpt)}${side(after.passed, after.tries, after.excerpt)}</tr>`,
    );
  const more = changes.length > mostListed ? `<p>and ${changes.length - mostListed} more</p>` : '';
  return (
    `<details${open ? ' open' : ''}><summary>${title} (${changes.length})</summary><table class="plain compared"><thead><tr><th scope="col">case</th><th scope="col">name</th>` +
    `<th scope="col">before</th><th scope="col">after</th></tr></thead><tbody>${rows.join('')}</tbody></table>${more}</details>`
  );
}

/** How this run compares with another one. */
export function comparisonSection(comparison: Comparison): string {
  const counts: [string, number][] = [
    ['better', comparison.better.length],
    ['worse', comparison.worse.length],
    ['same', comparison.same],
    ['same verdict, new text', comparison.sameVerdictNewText],
    ['unscored', comparison.unscored.length],
    [`only in ${comparison.before}`, comparison.onlyBefore.length],
    [`only in ${comparison.after}`, comparison.onlyAfter.length],
  ];
  const list = counts
    .filter(([, count], at) => at < 3 || count > 0)
    .map(([name, count]) => `<div><dt>${html(name)}</dt><dd>${count}</dd></div>`);
  return (
    `<section id="comparison" aria-labelledby="comparison-head"><h2 id="comparison-head">${html(comparison.after)} against ${html(comparison.before)}</h2>` +
    `<p class="verdict">${html(comparisonVerdict(comparison).replaceAll('`', ''))}</p><dl class="cards">${list.join('')}</dl>` +
    `${table('Worse', comparison.worse, comparison.worse.length <= 12)}${table('Better', comparison.better, false)}</section>`
  );
}

/** What became of single cases, for the table of results: `w` worse, `b` better. */
export function changeMarks(comparison: Comparison | undefined): Map<number, 'b' | 'w'> {
  const marks = new Map<number, 'b' | 'w'>();
  for (const { after } of comparison?.better ?? []) marks.set(after.index, 'b');
  for (const { after } of comparison?.worse ?? []) marks.set(after.index, 'w');
  return marks;
}
