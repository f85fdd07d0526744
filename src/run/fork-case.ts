/** Takes a recorded case, keeps its beginning exactly as it was, changes what comes after, and plays on: as a new run. */
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseIndex, caseKey, type RunId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import { findRun, newRunId, type RunHost, type RunOutcome, resumeRun } from './run-plan.ts';
import { inheritedSettings, settingsJson } from './run-settings.ts';

/** Which recorded steps stay as they were. */
export interface Keep {
  readonly words: string;
  readonly step: (path: string) => boolean;
}

/** Everything before the first turn, and turns 1..n with their tools; no grades. */
export const keepTurns = (turns: number): Keep => ({
  words: `turns 1..${turns}`,
  step: (path) => {
    const first = path.slice(0, path.indexOf('/') === -1 ? undefined : path.indexOf('/'));
    return /^\d+$/.test(first) ? Number(first) <= turns : first !== 'grade';
  },
});

export interface ForkRequest {
  readonly parent: RunId;
  readonly index: CaseIndex;
  readonly keep: Keep;
  /** The case as it shall go on: another prompt, model or line. */
  readonly change: (one: Case) => Case;
  /** How often it is played on, side by side. */
  readonly tries?: number;
  readonly name?: string;
  /** What the fork's own snapshot holds beside the parent's. */
  readonly note?: Json;
}

/** Plays a fork; the parent stays as it is. */
export async function forkCase(request: ForkRequest, host: RunHost): Promise<RunOutcome> {
  const { store, clock } = host;
  const parent = await findRun(store, request.parent);
  const original = await parent.case(request.index);
  if (original === undefined) {
    throw new ParlaneError(
      'run/unknown-case',
      `The run ${request.parent} has no case #${request.index}.`,
      'See its rows for those there are.',
    );
  }
  const now = clock.now();
  const record = await parent.record();
  const child = await store.createRun({
    id: newRunId(now),
    name: request.name ?? `${record.name}, forked`,
    createdAt: now,
    snapshot: { parent: await parent.snapshot(), note: request.note ?? null },
    options: settingsJson(inheritedSettings(record.options)),
  });
  const tries = Array.from({ length: request.tries ?? 1 }, (_, at): Case => {
    const changed = request.change(original);
    return { ...changed, index: caseIndex(at), key: caseKey(`${changed.key}#fork${at}`), repeat: at };
  });
  await child.addCases(tries.map((one, position) => ({ position, case: one })));
  const answers = [...(await parent.history(request.index)).answers.values()].filter(({ path }) =>
    request.keep.step(path),
  );
  const kept = tries.flatMap((one) => answers.map((answer) => ({ ...answer, index: one.index })));
  await store.saveFork({ run: child.id, parent: request.parent, index: request.index, keep: request.keep.words }, kept);
  await child.change({ planned: tries.length });
  return resumeRun(child.id, host);
}
