/**
 * The case that a person means: by its number as shown (`7`, `#7`), by its name, or a fork of one (`18f2`: the second
 * try that was forked from case 18; `18f2f1`: the first try that was forked from that one).
 */

import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseIndex, caseIndexOf, caseNumber, type RunId } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import { storedRow } from '../run/read-run.ts';
import { rowSoFar } from '../run/row-so-far.ts';
import { findRun } from '../run/run-plan.ts';
import type { RunStore, Store } from '../store/store.ts';
import { casesIn, type ListedCase, notInRun } from './listed-cases.ts';
import { nearestTo } from './nearest-word.ts';
import { chooseShownRun } from './open-project-store.ts';
import { processOf } from './run-process.ts';

export interface FoundCase {
  readonly run: RunStore;
  readonly row: Row;
  /** The case has not ended: the row is what its journal holds so far. */
  readonly unfinished?: 'running' | 'not finished';
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

/** A case that has not ended, from its journal; refused where somebody needs the end, or where nothing has begun. */
async function unfinished(
  run: RunStore,
  one: Case,
  shown: string,
  soFar: boolean,
  left: Row | undefined,
): Promise<FoundCase> {
  const working = processOf(await run.record()) === 'working';
  const steps = soFar ? await run.steps(one.index) : [];
  const row = steps.length > 0 ? rowSoFar(one, steps) : left;
  if (row !== undefined) return { run, row, shown, unfinished: working ? 'running' : 'not finished' };
  throw new ParlaneError(
    'run/unknown-case',
    `Case #${shown} of ${run.id} ${soFar ? 'has not begun' : 'has no result yet'}.`,
    working ? 'The run is going on; ask again later.' : `Go on with it: parlane resume ${run.id}.`,
    { run: run.id, case: shown },
  );
}

async function at(store: Store, run: RunStore, index: CaseIndex, shown: string, soFar: boolean): Promise<FoundCase> {
  const row = (await storedRow(run, index))?.row;
  if (row !== undefined && !(soFar && row.provisional === true)) return { run, row, shown };
  const one = index < 0 ? undefined : await run.case(index);
  if (one !== undefined) return unfinished(run, one, shown, soFar, row);
  throw await notInRun(store, run, caseNumber(index));
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
async function byFork(
  store: Store,
  parent: RunStore,
  number: number,
  line: readonly number[],
  soFar: boolean,
): Promise<FoundCase> {
  let found: ForkTry = { run: parent.id, index: caseIndexOf(number) };
  let shown = String(number);
  for (const nth of line) {
    found = await nthTry(store, found.run, found.index, shown, nth);
    shown += `f${nth}`;
  }
  return at(store, await findRun(store, found.run), found.index, shown, soFar);
}

async function byName(store: Store, run: RunStore, name: string, soFar: boolean): Promise<FoundCase> {
  const names = new Set<string>();
  const found: ListedCase[] = [];
  for await (const one of casesIn(run)) {
    names.add(one.name);
    if (one.name === name) found.push(one);
  }
  // Of several columns and repeats the one that needs looking at.
  const chosen = found.find(({ row }) => row !== undefined && row.status !== 'passed') ?? found[0];
  if (chosen !== undefined) return at(store, run, chosen.index, String(caseNumber(chosen.index)), soFar);
  const near = nearestTo(name, [...names]) ?? [...names].find((one) => one.includes(name));
  const cure = near === undefined ? 'Name it by its number, as in: parlane show 7.' : `Did you mean "${near}"?`;
  throw new ParlaneError('run/unknown-case', `The run ${run.id} has no case "${name}".`, cure, { run: run.id, name });
}

export interface FindCaseOptions {
  /** A case that has not ended will do, as far as it has come. */
  readonly soFar?: boolean;
}

export async function findCase(
  store: Store,
  text: string,
  runName: string | undefined,
  { soFar = false }: FindCaseOptions = {},
): Promise<FoundCase> {
  const run = await findRun(store, (await chooseShownRun(store, runName)).id);
  const numbered = /^#?(\d+)((?:f\d+)*)$/.exec(text);
  if (numbered === null) return byName(store, run, text, soFar);
  const number = Number(numbered[1]);
  const line = (numbered[2] ?? '').split('f').slice(1).map(Number);
  return line.length === 0
    ? at(store, run, caseIndexOf(number), String(number), soFar)
    : byFork(store, run, number, line, soFar);
}
