/**
 * The case that a person means: by its number as shown (`7`, `#7`), by its name, or a fork of one (`18f2`: the second
 * try that was forked from case 18; `18f2f1`: the first try that was forked from that one).
 */
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseIndex, caseIndexOf, caseNumber, type RunId } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import { rowsOf } from '../run/read-run.ts';
import { findRun } from '../run/run-plan.ts';
import type { RunStore, Store } from '../store/store.ts';
import { nearestTo } from './nearest-word.ts';
import { chooseShownRun } from './open-project-store.ts';

export interface FoundCase {
  readonly run: RunStore;
  readonly row: Row;
  /** What people type for it. */
  readonly shown: string;
}

export interface ForkTry {
  readonly run: RunId;
  readonly index: CaseIndex;
}

/** All tries forked from a case, oldest first: the first is `18f1`. */
export async function forkTries(store: Store, parent: RunId, index: CaseIndex): Promise<ForkTry[]> {
  const forks = (await store.forks()).filter((fork) => fork.parent === parent && fork.index === index);
  const tries = forks.map(async ({ run }) => {
    const { cases } = await (await findRun(store, run)).caseCount();
    return Array.from({ length: cases }, (_, at): ForkTry => ({ run, index: caseIndex(at) }));
  });
  return (await Promise.all(tries)).flat();
}

/** The row of a case; undefined while it has none. */
export async function rowAt(run: RunStore, index: CaseIndex): Promise<Row | undefined> {
  const [found] = await run.rows({ after: index - 1, limit: 1 });
  return found?.row.index === index ? found.row : undefined;
}

async function unfinished(run: RunStore, number: number): Promise<ParlaneError> {
  const { cases } = await run.caseCount();
  const known = number >= 1 && number <= cases;
  const what = known ? `Case #${number} of ${run.id} has no result yet.` : `The run ${run.id} has no case #${number}.`;
  const cure = known ? `Go on with it: parlane resume ${run.id}.` : `Its cases are #1 to #${cases}.`;
  return new ParlaneError('run/unknown-case', what, cure, { run: run.id, case: number });
}

async function byNumber(run: RunStore, number: number): Promise<FoundCase> {
  const row = await rowAt(run, caseIndexOf(number));
  if (row !== undefined) return { run, row, shown: String(number) };
  throw await unfinished(run, number);
}

async function nthTry(store: Store, run: RunId, index: CaseIndex, shown: string, nth: number): Promise<ForkTry> {
  const tries = await forkTries(store, run, index);
  const chosen = tries[nth - 1];
  if (chosen !== undefined) return chosen;
  const cure =
    tries.length === 0
      ? `Make one: parlane fork ${shown} --after 1.`
      : `It has ${shown}f1 to ${shown}f${tries.length}.`;
  throw new ParlaneError('run/unknown-fork', `Case #${shown} of ${run} has no fork ${nth}.`, cure);
}

/** Follows a line of forks, one after the other. */
async function byFork(store: Store, parent: RunStore, number: number, line: readonly number[]): Promise<FoundCase> {
  let at: ForkTry = { run: parent.id, index: caseIndexOf(number) };
  let shown = String(number);
  for (const nth of line) {
    at = await nthTry(store, at.run, at.index, shown, nth);
    shown += `f${nth}`;
  }
  const run = await findRun(store, at.run);
  const row = await rowAt(run, at.index);
  if (row === undefined) throw await unfinished(run, caseNumber(at.index));
  return { run, row, shown };
}

async function byName(run: RunStore, name: string): Promise<FoundCase> {
  const names = new Set<string>();
  const found: Row[] = [];
  for await (const row of rowsOf(run)) {
    names.add(row.name);
    if (row.name === name) found.push(row);
  }
  // Of several columns and repeats the one that needs looking at.
  const row = found.find(({ status }) => status !== 'passed') ?? found[0];
  if (row !== undefined) return { run, row, shown: String(caseNumber(row.index)) };
  const near = nearestTo(name, [...names]) ?? [...names].find((one) => one.includes(name));
  const cure = near === undefined ? 'Name it by its number, as in: parlane show 7.' : `Did you mean "${near}"?`;
  throw new ParlaneError('run/unknown-case', `The run ${run.id} has no case "${name}".`, cure, { run: run.id, name });
}

export async function findCase(store: Store, text: string, runName: string | undefined): Promise<FoundCase> {
  const run = await findRun(store, (await chooseShownRun(store, runName)).id);
  const numbered = /^#?(\d+)((?:f\d+)*)$/.exec(text);
  if (numbered === null) return byName(run, text);
  const number = Number(numbered[1]);
  const line = (numbered[2] ?? '').split('f').slice(1).map(Number);
  return line.length === 0 ? byNumber(run, number) : byFork(store, run, number, line);
}
