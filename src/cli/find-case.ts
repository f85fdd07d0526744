/**
 * The case that a person means: by its number as shown (`7`, `#7`), by its name, or a fork of one (`18f2`: the second
 * try that was forked from case 18).
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

async function rowAt(run: RunStore, index: CaseIndex): Promise<Row | undefined> {
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

async function byFork(store: Store, parent: RunStore, number: number, nth: number): Promise<FoundCase> {
  const tries = await forkTries(store, parent.id, caseIndexOf(number));
  const chosen = tries[nth - 1];
  if (chosen === undefined) {
    const cure =
      tries.length === 0
        ? `Make one: parlane fork ${number} --after 1.`
        : `It has ${number}f1 to ${number}f${tries.length}.`;
    throw new ParlaneError('run/unknown-fork', `Case #${number} of ${parent.id} has no fork ${nth}.`, cure);
  }
  const run = await findRun(store, chosen.run);
  const row = await rowAt(run, chosen.index);
  if (row === undefined) throw await unfinished(run, caseNumber(chosen.index));
  return { run, row, shown: `${number}f${nth}` };
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
  const numbered = /^#?(\d+)(?:f(\d+))?$/.exec(text);
  if (numbered === null) return byName(run, text);
  const number = Number(numbered[1]);
  return numbered[2] === undefined ? byNumber(run, number) : byFork(store, run, number, Number(numbered[2]));
}
