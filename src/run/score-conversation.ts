/** A finished conversation's verdict: the specification's judge and every check, together. */
import { renderEvaluator, templateValues } from '../conversation/cast.ts';
import { type Evaluation, judgeConversation, withEvaluation } from '../conversation/judge.ts';
import type { ModelChoice } from '../conversation/setup.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Effects } from '../domain/effects.ts';
import { findingsKept } from '../domain/finding.ts';
import type { Json } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { type GradeOptions, grade } from '../grading/grade.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';

export interface Scoring {
  readonly scenario: Scenario;
  readonly snapshot: SpecificationSnapshot;
  readonly checks: readonly Assertion[];
  readonly judge?: ModelChoice;
  readonly grading: GradeOptions;
}

export interface Scored {
  readonly result: ConversationResult;
  /** Absent when there was nothing to check, or the conversation did not get to its end. */
  readonly verdict?: Verdict;
}

/** Scores a conversation. One that failed or was blocked is not scored at all. */
export async function scoreConversation(
  result: ConversationResult,
  scoring: Scoring,
  effects: Effects,
): Promise<Scored> {
  const evaluation = await evaluate(result, scoring, effects);
  const judged = evaluation === undefined ? result : withEvaluation(result, evaluation);
  if (result.status !== 'completed') return { result: judged };
  const verdicts = [
    ...(evaluation === undefined ? [] : [verdictOf(evaluation)]),
    ...(await gradeTurns(result, scoring, effects)),
  ];
  return verdicts.length === 0 ? { result: judged } : { result: judged, verdict: together(verdicts) };
}

async function evaluate(
  result: ConversationResult,
  { scenario, snapshot, judge }: Scoring,
  effects: Effects,
): Promise<Evaluation | undefined> {
  if (judge === undefined) return undefined;
  const { specification } = snapshot;
  const values = templateValues(scenario, result.variables, {
    sessionId: result.session_id,
    date: result.start_time.slice(0, 10),
    useTools: result.tools_used === true,
    endMarker: specification.end_marker,
  });
  const prompt = renderEvaluator(scenario, specification, values);
  if (prompt === undefined) return undefined;
  return judgeConversation({ model: judge, prompt, settings: specification.judge ?? {}, scenario }, result, effects);
}

function verdictOf({ status, score, scale, success, comment, criteria, findings }: Evaluation): Verdict {
  const assertion: Assertion = { type: 'judge', metric: 'judge' };
  if (status !== 'completed' || score === null)
    return { pass: false, score: 0, reason: comment, error: comment, assertion };
  const shares = Object.entries(criteria ?? {}).map(([name, value]): [string, number] => [
    name,
    (value - scale.min) / (scale.max - scale.min),
  ]);
  return {
    pass: success === true,
    score: (score - scale.min) / (scale.max - scale.min),
    reason: comment === '' ? `Rated ${score}` : comment,
    assertion,
    metadata: { rating: score, comment, ...findingsKept(findings) },
    ...(shares.length === 0 ? {} : { namedScores: Object.fromEntries(shares) }),
  };
}

/** Checks with a `turn` look at that turn alone; all others at the whole conversation. */
async function gradeTurns(
  result: ConversationResult,
  { checks, grading }: Scoring,
  effects: Effects,
): Promise<Verdict[]> {
  const groups = Map.groupBy(checks, ({ turn }) => turn);
  const verdicts = await Promise.all(
    [...groups].map(async ([turn, group]) => {
      if (turn === undefined) return partsOf(await grade(group, subjectOf(result), effects, grading));
      const own = result.conversation_history.filter((entry) => entry.turn === turnNumber(turn, result));
      if (own.length === 0)
        return group.map(
          (assertion): Verdict => ({
            pass: false,
            score: 0,
            reason: `There is no turn ${JSON.stringify(turn)}.`,
            assertion,
          }),
        );
      const told = `turn-${JSON.stringify(turn)}`.replaceAll(/[^\w-]/g, '');
      const bare = group.map(({ turn: _, ...assertion }) => assertion as Assertion);
      const part = subjectOf({ ...result, conversation_history: own });
      return partsOf(await grade(bare, part, under(effects, told), grading)).map((verdict) => atTurn(verdict, own));
    }),
  );
  return verdicts.flat();
}

/** A check of one turn points at it. */
const atTurn = (verdict: Verdict, own: ConversationResult['conversation_history']): Verdict => {
  const turn = own[0]?.turn;
  return turn === undefined ? verdict : { ...verdict, metadata: { ...verdict.metadata, turn } };
};

const turnNumber = (turn: Json | readonly Assertion[], result: ConversationResult): unknown =>
  turn === 'last' ? result.total_turns : turn === 'first' ? 1 : turn;

const partsOf = (verdict: Verdict): readonly Verdict[] => verdict.componentResults ?? [verdict];

function subjectOf(result: ConversationResult) {
  const output = result.conversation_history.findLast(({ speaker }) => speaker !== 'client')?.content ?? '';
  return { output, vars: result.variables, conversation: result };
}

/** The same effects with their paths one step deeper, so that two groups of checks never meet. */
function under(effects: Effects, name: string): Effects {
  const deeper = (path: string): string => path.replace(/^grade\//, `grade/${name}/`);
  return {
    signal: effects.signal,
    model: (path, call) => effects.model(deeper(path), call),
    perform: (kind, path, request, effect) => effects.perform(kind, deeper(path), request, effect),
    now: (path) => effects.now(deeper(path)),
    uuid: (path) => effects.uuid(deeper(path)),
  };
}

/** One verdict from several: everything must pass; a check that could not be made makes the whole unknown. */
function together(verdicts: readonly Verdict[]): Verdict {
  const weight = ({ assertion }: Verdict): number => assertion?.weight ?? 1;
  const total = verdicts.reduce((sum, one) => sum + weight(one), 0);
  const failed = verdicts.find(({ pass }) => !pass);
  const broken = verdicts.find(({ error }) => error !== undefined);
  return {
    pass: failed === undefined,
    score: total === 0 ? 1 : verdicts.reduce((sum, one) => sum + one.score * weight(one), 0) / total,
    reason: failed?.reason ?? 'All checks passed',
    ...(broken?.error === undefined ? {} : { error: broken.error }),
    componentResults: verdicts,
  };
}
