/** A case of a run that is going on, as `show` would show it: its row, or what is journaled of it so far. */
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseNumber, type RunId } from '../domain/ids.ts';
import { columnAt } from '../reporters/column-label.ts';
import type { CaseReader } from '../reporters/terminal/case-desk.ts';
import type { Style } from '../reporters/terminal/style.ts';
import { transcriptLines } from '../reporters/terminal/transcript.ts';
import { storedRow } from '../run/read-run.ts';
import { rowSoFar } from '../run/row-so-far.ts';
import { findRun } from '../run/run-plan.ts';
import type { RunStore, Store } from '../store/store.ts';

async function soFar(run: RunStore, index: CaseIndex): Promise<ReturnType<typeof rowSoFar>> {
  const one = await run.case(index);
  if (one !== undefined) return rowSoFar(one, await run.steps(index));
  throw new ParlaneError('run/unknown-case', `The run ${run.id} has no case #${caseNumber(index)}.`, '', { index });
}

export const openCaseReader =
  (store: Store, runOf: () => RunId, style: Style): CaseReader =>
  async (index, { width, unfold }) => {
    const run = await findRun(store, runOf());
    const row = (await storedRow(run, index))?.row;
    const ended = row !== undefined && row.provisional !== true;
    const shown = ended ? row : await soFar(run, index);
    const column = columnAt(await run.columns(), shown.column);
    const lines = transcriptLines(shown, {
      width,
      style,
      unfold,
      ...(column === undefined ? {} : { column }),
      ...(ended ? {} : { unfinished: 'running' }),
      unfoldBy: 'u',
    });
    return { lines, ended };
  };
