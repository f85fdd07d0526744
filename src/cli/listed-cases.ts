/** Which cases a run has, and where one is that it does not have: a retry, a rescore or `run --only` hold a few of a plan. */
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseIndexOf, caseNumber } from '../domain/ids.ts';
import { counted } from '../domain/measures.ts';
import type { Row } from '../domain/row.ts';
import { openCasePages, rowsOf } from '../run/read-run.ts';
import { findRun } from '../run/run-plan.ts';
import { settingsOf } from '../run/run-settings.ts';
import type { RunRecord, RunStore, Store } from '../store/store.ts';

export interface ListedCase {
  readonly index: CaseIndex;
  readonly name: string;
  /** Absent while the case has none that is final. */
  readonly row?: Row;
}

/** Every case: those that ended, then those that are open, each in the plan's order. */
export async function* casesIn(run: RunStore): AsyncGenerator<ListedCase> {
  for await (const row of rowsOf(run)) if (row.provisional !== true) yield { index: row.index, name: row.name, row };
  for await (const open of openCasePages(run)) for (const { index, name } of open) yield { index, name };
}

const mostRanges = 6;

/** `#7 and #18`, `#1 to #16`, `#1 to #3, #7 and #9`. */
export function numberWords(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const words = ranges.flatMap(([from, to]) =>
    to - from === 1 ? [`#${from}`, `#${to}`] : [from === to ? `#${from}` : `#${from} to #${to}`],
  );
  if (words.length > mostRanges) return `${words.slice(0, mostRanges).join(', ')} and more`;
  const [last, ...before] = [...words].reverse();
  return before.length === 0 ? (last ?? '') : `${before.reverse().join(', ')} and ${last}`;
}

/** The run that this one's cases come from, if it has the case; else the newest of the same plan, then of the same suite. */
async function elsewhere(store: Store, run: RunStore, index: CaseIndex): Promise<RunRecord | undefined> {
  const { createdAt, snapshot, name, options } = await run.record();
  const { from } = settingsOf(options);
  const forks = new Set((await store.forks()).map((fork) => fork.run));
  const earlier = (await store.runs()).filter((one) => one.id !== run.id && one.createdAt <= createdAt);
  const kin = earlier.filter((one) => !forks.has(one.id) && one.name === name);
  const nearestFirst = [
    ...earlier.filter(({ id }) => id === from),
    ...kin.filter((one) => one.snapshot === snapshot),
    ...kin,
  ];
  for (const one of nearestFirst) if ((await (await findRun(store, one.id)).case(index)) !== undefined) return one;
  return undefined;
}

/** For a number that is none of this run's. */
export async function notInRun(store: Store, run: RunStore, number: number): Promise<ParlaneError> {
  const numbers: number[] = [];
  for await (const { index } of casesIn(run)) numbers.push(caseNumber(index));
  const other = number < 1 ? undefined : await elsewhere(store, run, caseIndexOf(number));
  const has =
    numbers.length === 0 ? 'It has no cases.' : `It has ${counted(numbers.length, 'case')}: ${numberWords(numbers)}.`;
  const where = other === undefined ? '' : ` Case #${number} is in run ${other.id}: add --run ${other.id}.`;
  return new ParlaneError('run/unknown-case', `The run ${run.id} has no case #${number}.`, `${has}${where}`, {
    run: run.id,
    case: number,
    ...(other === undefined ? {} : { elsewhere: other.id }),
  });
}
