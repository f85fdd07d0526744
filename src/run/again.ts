/** Cases of a finished run for another run: to be played again, or only scored again from what was recorded. */
import type { ModelChoice } from '../conversation/setup.ts';
import type { Case, ConversationCase, PromptCase } from '../domain/case.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import { ParlaneError } from '../domain/errors.ts';
import { detailJson, evalDetail } from '../domain/eval-case.ts';
import type { RunId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Assertion } from '../domain/verdict.ts';
import type { Answer, RunStore } from '../store/store.ts';
import { detailOf } from './conversation-case.ts';
import { rowsOf } from './read-run.ts';
import { findRun, newRunId, type RunHost, type RunOutcome, resumeRun } from './run-plan.ts';
import { inheritedSettings, settingsJson } from './run-settings.ts';

export interface Scoring {
  readonly judge?: ModelChoice;
  readonly checks?: readonly Assertion[];
}

/** The cases whose rows are wanted, as they were planned. */
export async function casesOf(run: RunStore, wanted: (row: Row) => boolean): Promise<Case[]> {
  const found: Case[] = [];
  for await (const row of rowsOf(run)) {
    const one = wanted(row) ? await run.case(row.index) : undefined;
    if (one !== undefined) found.push(one);
  }
  return found;
}

/** What did not succeed: failed checks, failures and errors. */
export const didNotPass = ({ status }: Row): boolean => status !== 'passed' && status !== 'skipped';

/** A recorded conversation as a case that is only scored; undefined when there is nothing recorded. */
export function rescoredConversation(one: ConversationCase, row: Row, scoring: Scoring): ConversationCase | undefined {
  const result = row.detail as unknown as ConversationResult | undefined;
  if (result?.conversation_history === undefined) return undefined;
  const { evaluation_status: _status, score: _score, comment: _comment, ...recorded } = result;
  const detail = detailOf(one);
  const models = scoring.judge === undefined ? detail.models : { ...detail.models, judge: scoring.judge };
  return {
    ...one,
    // Nothing is played, so the lane it waits for is the judge's.
    column: { ...one.column, provider: models.judge?.provider ?? 'echo' },
    checks: scoring.checks ?? one.checks,
    detail: { ...detail, models, recorded } as unknown as Json,
  };
}

/** The same test with another judge: whoever graded it before, by name or by default, no longer does. */
function rejudged(one: PromptCase, judge: string | undefined): PromptCase {
  if (judge === undefined) return one;
  const detail = evalDetail(one);
  const bare = (list: readonly Assertion[]): Assertion[] =>
    list.map(({ provider: _, ...assertion }) =>
      Array.isArray(assertion['assert'])
        ? ({ ...assertion, assert: bare(assertion['assert'] as readonly Assertion[]) } as Assertion)
        : (assertion as Assertion),
    );
  const { test } = detail;
  const next = {
    ...test,
    ...(test.assert === undefined ? {} : { assert: bare(test.assert) }),
    options: { ...test.options, provider: judge },
  };
  return { ...one, checks: bare(one.checks), detail: detailJson({ ...detail, test: next }) };
}

/** Everything that was recorded of a case but its grades: replayed, so that nothing of it is asked again. */
const withoutGrades = (answers: Iterable<Answer>): Answer[] =>
  [...answers].filter(({ path }) => !/^(?:grade|compare)\//.test(path)).map((answer) => ({ ...answer, pinned: true }));

async function addRescored(
  from: RunStore,
  to: RunStore,
  row: Row,
  position: number,
  scoring: Scoring,
): Promise<boolean> {
  const one = row.provisional === true ? undefined : await from.case(row.index);
  if (one === undefined) return false;
  const answers = one.kind === 'prompt' ? withoutGrades((await from.history(row.index)).answers.values()) : [];
  if (one.kind === 'prompt' && answers.length === 0) return false;
  const again =
    one.kind === 'prompt' ? rejudged(one, scoring.judge?.provider) : rescoredConversation(one, row, scoring);
  if (again === undefined) return false;
  await to.addCases([{ position, case: again }]);
  await Promise.all(answers.map((answer) => to.answer(answer)));
  return true;
}

/** A new run that scores what a run recorded again; nothing is played. */
export async function rescoreRun(id: RunId, scoring: Scoring, host: RunHost): Promise<RunOutcome> {
  const parent = await findRun(host.store, id);
  const record = await parent.record();
  const now = host.clock.now();
  const child = await host.store.createRun({
    id: newRunId(now),
    name: record.name,
    createdAt: now,
    snapshot: await parent.snapshot(),
    options: settingsJson({ ...inheritedSettings(record.options), from: id, again: 'rescore' }),
  });
  let planned = 0;
  for await (const row of rowsOf(parent)) if (await addRescored(parent, child, row, planned, scoring)) planned += 1;
  if (planned === 0) {
    await host.store.deleteRun(child.id);
    throw new ParlaneError('rescore/nothing', `The run ${id} holds nothing that could be scored.`, 'Name another run.');
  }
  await child.change({ planned });
  return resumeRun(child.id, host);
}
