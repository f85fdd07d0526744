/** A conversation case from its data to its row: play, score, tell what it means. */
import { runConversation } from '../conversation/run-conversation.ts';
import type { ConversationPorts, ConversationSetup, ModelChoice } from '../conversation/setup.ts';
import type { ConversationCase } from '../domain/case.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import { assertNever, ParlaneError } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';
import type { RowStatus } from '../domain/row.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { GradeOptions } from '../grading/grade.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import type { CaseResult, CaseRunners } from './case-runner.ts';
import type { Recordings } from './recorded-tools.ts';
import { scoreConversation } from './score-conversation.ts';

/** What a conversation case holds, as plain data. */
export interface ConversationDetail extends Omit<ConversationSetup, 'snapshot' | 'models'> {
  /** Hash of the specification's snapshot. */
  readonly specification: string;
  readonly models: ConversationSetup['models'] & { readonly judge?: ModelChoice };
  /** A finished conversation that is only scored again, not played. */
  readonly recorded?: ConversationResult;
}

export const detailOf = (one: ConversationCase): ConversationDetail => one.detail as unknown as ConversationDetail;

export interface ConversationRunnerParts {
  /** The snapshots that the run's cases refer to, by hash. */
  readonly specifications: ReadonlyMap<string, SpecificationSnapshot>;
  readonly ports: ConversationPorts;
  /** For tools that answer as an earlier run recorded; absent where no run is kept. */
  readonly recordings?: Recordings;
  readonly grading: GradeOptions;
}

export const conversationRunner =
  (parts: ConversationRunnerParts): CaseRunners['conversation'] =>
  async (one, { effects, progress }) => {
    const detail = detailOf(one);
    const { specification, models, recorded: finished, ...rest } = detail;
    const snapshot = snapshotFor(parts, specification);
    const asking = { name: one.name, repeat: one.repeat, column: one.column.position };
    const recorded = parts.recordings === undefined ? {} : { recorded: parts.recordings.answersFor(asking) };
    const ports = { ...parts.ports, ...recorded, onProgress: progress };
    const played = finished ?? (await runConversation({ ...rest, models, snapshot }, effects, ports));
    const scoring = {
      scenario: detail.scenario,
      snapshot,
      checks: one.checks,
      ...(models.judge === undefined ? {} : { judge: models.judge }),
      grading: gradingFor(parts.grading, models.judge),
    };
    const { result, verdict } = await scoreConversation(played, scoring, effects);
    return caseResult(result, verdict);
  };

/** Checks that need a model ask the judge's unless they name their own. */
const gradingFor = (grading: GradeOptions, judge: ModelChoice | undefined): GradeOptions =>
  judge === undefined ? grading : { ...grading, defaultGraders: { text: judge.provider, ...grading.defaultGraders } };

export function snapshotFor(
  parts: Pick<ConversationRunnerParts, 'specifications'>,
  hash: string,
): SpecificationSnapshot {
  const snapshot = parts.specifications.get(hash);
  if (snapshot !== undefined) return snapshot;
  throw new ParlaneError(
    'run/no-specification',
    `The run holds no prompt specification ${hash.slice(0, 12)}.`,
    'Its store is damaged, or it was made by another version.',
    { hash },
  );
}

/** What a conversation's end means for its row. Errors of the infrastructure are not wrong answers. */
function caseResult(result: ConversationResult, verdict: Verdict | undefined): CaseResult {
  const status = rowStatus(result, verdict);
  const output = result.conversation_history.findLast(({ speaker }) => speaker !== 'client')?.content ?? '';
  const scored = result.status === 'completed' && verdict !== undefined && verdict.error === undefined;
  return {
    status,
    score: scored ? verdict.score : null,
    output,
    ...(verdict === undefined ? {} : { verdict }),
    ...errorOf(result, verdict, status),
    detail: result as unknown as Json,
  };
}

function rowStatus(result: ConversationResult, verdict: Verdict | undefined): RowStatus {
  const reason = result.termination_reason;
  switch (reason) {
    case 'end_call_client':
    case 'end_call_agent':
    case 'end_marker':
    case 'max_turns':
      if (verdict?.error !== undefined) return 'error';
      return verdict === undefined || verdict.pass ? 'passed' : 'failed';
    case 'timeout':
    case 'tool_loop':
    case 'max_cost':
      return 'failed';
    case 'error':
      return result.error_code === 'webhook_skipped' ? 'skipped' : 'error';
    case 'api_blocked':
      return 'error';
    case 'aborted':
      return 'aborted';
    default:
      return assertNever(reason);
  }
}

function errorOf(
  result: ConversationResult,
  verdict: Verdict | undefined,
  status: RowStatus,
): Pick<CaseResult, 'error'> {
  if (result.error !== undefined)
    return { error: { code: result.error_code ?? result.termination_reason, message: result.error } };
  if (status === 'error' && verdict?.error !== undefined) return { error: { code: 'grading', message: verdict.error } };
  return {};
}
