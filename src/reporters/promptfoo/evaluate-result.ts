/** Rows of an eval in the shapes that promptfoo's users and tools know, with our own times beside them. Pure. */
import type { PromptCase } from '../../domain/case.ts';
import { evalDetail } from '../../domain/eval-case.ts';
import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { Usage } from '../../domain/reply.ts';
import type { Row } from '../../domain/row.ts';
import type { Verdict } from '../../domain/verdict.ts';

/** 0 nothing wrong, 1 an assertion failed, 2 an error. */
export function failureReason(row: Row): 0 | 1 | 2 {
  if (row.status === 'passed') return 0;
  return row.status === 'failed' ? 1 : 2;
}

export function tokenUsage(usage: Usage | undefined, requests = 0): JsonObject {
  const prompt = usage?.inputTokens ?? 0;
  const completion = usage?.outputTokens ?? 0;
  return {
    total: prompt + completion,
    prompt,
    completion,
    cached: usage?.cachedInputTokens ?? 0,
    numRequests: requests,
  };
}

export function gradingResult(verdict: Verdict): JsonObject {
  return {
    pass: verdict.pass,
    score: verdict.score,
    reason: verdict.reason,
    namedScores: { ...verdict.namedScores },
    ...(verdict.namedScoreWeights === undefined ? {} : { namedScoreWeights: { ...verdict.namedScoreWeights } }),
    tokensUsed: tokenUsage(verdict.usage),
    componentResults: (verdict.componentResults ?? []).map(gradingResult),
    ...(verdict.assertion === undefined ? {} : { assertion: verdict.assertion as unknown as Json }),
    ...(verdict.metadata === undefined ? {} : { metadata: verdict.metadata }),
  };
}

const dollars = (row: Row): number => (row.costUsdMicros ?? 0) / 1_000_000;

/** One row as promptfoo's `EvaluateResult`. */
export function evaluateResult(planned: PromptCase, row: Row): JsonObject {
  const detail = evalDetail(planned);
  const facts = isObject(row.detail) ? row.detail : {};
  const response = isObject(facts['response']) ? facts['response'] : undefined;
  const { provider, prompt, test } = detail;
  return {
    id: row.key,
    promptIdx: detail.promptIdx,
    testIdx: detail.testIdx,
    testCase: test as unknown as Json,
    promptId: detail.promptId,
    provider: { id: provider.id, label: provider.label ?? '' },
    prompt: {
      raw: facts['prompt'] ?? planned.prompt,
      label: prompt.label,
      ...(prompt.config === undefined ? {} : { config: prompt.config }),
    },
    vars: facts['vars'] ?? planned.vars,
    ...(response === undefined
      ? {}
      : { response: { ...response, output: row.output, tokenUsage: tokenUsage(row.usage, row.attempts) } }),
    ...(row.error === undefined ? {} : { error: row.error.message }),
    ...(row.error === undefined && row.status === 'failed' && row.verdict !== undefined
      ? { error: row.verdict.reason }
      : {}),
    failureReason: failureReason(row),
    success: row.status === 'passed',
    score: row.score ?? 0,
    latencyMs: row.latencyMs,
    queueMs: row.queueMs,
    backoffMs: row.backoffMs,
    attempts: row.attempts,
    gradingResult: row.verdict === undefined ? null : gradingResult(row.verdict),
    namedScores: { ...row.verdict?.namedScores },
    cost: dollars(row),
    metadata: { ...(isObject(facts['metadata']) ? facts['metadata'] : {}), ...test.metadata },
    tokenUsage: tokenUsage(row.usage, row.attempts),
  };
}
