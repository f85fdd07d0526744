import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { play } from '../../test/conversation/desk.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Json } from '../domain/json.ts';
import type { Outcome } from '../domain/reply.ts';
import { judgeConversation, readAnswer, withEvaluation } from './judge.ts';
import { failureOf, MemoryEffects, replyOf, scriptedModel } from './memory-effects.ts';
import { passK } from './repeats.ts';
import { resultValidator } from './result-schema.ts';
import { type SummaryRow, summarizeBatch } from './summarize-batch.ts';

const conversation = async (): Promise<ConversationResult> =>
  (
    await play({
      scenario: { variables: { goal: 'two livers' } },
      answers: {
        'agent:agent': [replyOf('', [['find_products', { query: 'liver' }]]), replyOf('Here.')],
        client: [replyOf('Bye.', [['end_call', {}]])],
      },
    })
  ).result;

async function judged(answers: readonly Outcome[], settings = {}, result?: ConversationResult) {
  const effects = new MemoryEffects({ model: scriptedModel({ judge: answers }) });
  const setup = {
    model: { provider: 'sim:judge' },
    prompt: 'Judge it.',
    settings,
    scenario: { name: 'order', variables: {} },
  };
  return { evaluation: await judgeConversation(setup, result ?? (await conversation()), effects), effects };
}

describe('a judge', () => {
  it('gets the goal, the rubric and the transcript with tool calls and results', async () => {
    const { effects } = await judged([replyOf('{"score": 3, "comment": "good"}')], { rubric: 'Be exact.' });
    const asked = JSON.stringify(effects.log[0]?.request);
    for (const part of ['two livers', 'Be exact.', 'called find_products', 'P1', 'Final state'])
      expect(asked).toContain(part);
    expect(effects.log.map(({ path }) => path)).toEqual(['grade/judge/1']);
  });

  it('answers {"score": 1|2|3, "comment"}; only the top of the scale is success unless pass_at says otherwise', async () => {
    expect((await judged([replyOf('{"score": 3, "comment": "good"}')])).evaluation).toMatchObject({
      status: 'completed',
      score: 3,
      comment: 'good',
      success: true,
    });
    expect((await judged([replyOf('{"score": 2}')])).evaluation.success).toBe(false);
    expect((await judged([replyOf('{"score": 2}')], { pass_at: 2 })).evaluation.success).toBe(true);
  });

  it('is asked once more when its answer is invalid', async () => {
    const { evaluation, effects } = await judged([
      replyOf('I think it was fine.'),
      replyOf('```json\n{"score": 1, "comment": "no"}\n```'),
    ]);
    expect(evaluation).toMatchObject({ status: 'completed', score: 1 });
    expect(effects.log.map(({ path }) => path)).toEqual(['grade/judge/1', 'grade/judge/2']);
  });

  it('that is invalid twice gives evaluation_status "failed" and no score', async () => {
    const { evaluation } = await judged([replyOf('{"score": 7}')]);
    expect(evaluation).toMatchObject({ status: 'failed', score: null, success: null });
    const result = withEvaluation(await conversation(), evaluation);
    expect(result).toMatchObject({ evaluation_status: 'failed', score: null });
    expect(resultValidator()(result)).toEqual([]);
  });

  it('never sees its own failure as a score', async () => {
    expect((await judged([failureOf('overloaded', 'busy')])).evaluation).toMatchObject({
      status: 'failed',
      score: null,
      success: null,
    });
  });

  it('is not asked about a conversation that failed or was blocked: its score is null, not 1', async () => {
    const { result } = await play({ answers: { 'agent:agent': [failureOf('region_blocked', 'no')] } });
    const { evaluation, effects } = await judged([replyOf('{"score": 1}')], {}, result);
    expect(evaluation).toMatchObject({ status: 'skipped', score: null });
    expect(effects.log).toEqual([]);
  });

  it('may name what went wrong and at which turn; a turn that the conversation does not have is dropped', async () => {
    const findings = [
      { turn: 1, what: ' promised too much ' },
      { turn: 99, what: 'later' },
      { turn: 0, what: 'earlier' },
      { turn: '1' },
      { what: 'somewhere' },
      'odd',
    ];
    const answer = replyOf(JSON.stringify({ score: 1, comment: 'bad', findings }));
    const { evaluation, effects } = await judged([answer]);
    expect(evaluation.findings).toEqual([
      { turn: 1, what: 'promised too much' },
      { turn: 1, what: '' },
    ]);
    expect(JSON.stringify(effects.log[0]?.request)).toContain('findings');
    // One turn for the whole answer is understood too; none at all, or nonsense, spoils nothing.
    expect((await judged([replyOf('{"score": 1, "turn": 1}')])).evaluation.findings).toEqual([{ turn: 1, what: '' }]);
    for (const odd of ['{"score": 3}', '{"score": 3, "findings": "none"}', '{"score": 3, "findings": null, "turn": 7}'])
      expect((await judged([replyOf(odd)])).evaluation).toMatchObject({ status: 'completed', score: 3, findings: [] });
  });

  it('can have another scale and several criteria', async () => {
    const settings = {
      scale: { min: 0, max: 10 },
      criteria: { polite: 'kind words', right: 'true facts' },
      pass_at: 7,
    };
    expect((await judged([replyOf('{"scores": {"polite": 10, "right": 5}}')], settings)).evaluation).toMatchObject({
      score: 7.5,
      criteria: { polite: 10, right: 5 },
      success: true,
    });
    expect(readAnswer('{"scores": {"polite": 10}}', settings.scale, ['polite', 'right'])).toHaveProperty('fault');
  });

  it.each(['', 'null', '[]', '{"score": "3"}', '{"score": 2.5}', '{"score": null}', '{'])(
    'never takes %j for a score',
    (text) => {
      expect(readAnswer(text, { min: 1, max: 3 }, [])).toHaveProperty('fault');
    },
  );
});

describe('pass^k and pass@k', () => {
  it('agree with counting all choices of k tries', () => {
    const choices = (list: readonly boolean[], k: number): boolean[][] =>
      k === 0 ? [[]] : list.flatMap((one, at) => choices(list.slice(at + 1), k - 1).map((rest) => [one, ...rest]));
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
        (scenarios) => {
          const { hat, at } = passK(scenarios.map((tries) => ({ scored: 4, successes: tries.filter(Boolean).length })));
          for (const k of [1, 2, 3, 4]) {
            const share = (test: (chosen: boolean[]) => boolean): number =>
              scenarios.reduce(
                (sum, tries) => sum + choices(tries, k).filter(test).length / choices(tries, k).length,
                0,
              ) / scenarios.length;
            expect(hat[k - 1]).toBeCloseTo(share((chosen) => chosen.every(Boolean)));
            expect(at[k - 1]).toBeCloseTo(share((chosen) => chosen.some(Boolean)));
          }
        },
      ),
    );
  });

  it('stand on the scenarios with at least k scored tries, and say how many', () => {
    expect(
      passK([
        { scored: 2, successes: 2 },
        { scored: 1, successes: 0 },
      ]),
    ).toEqual({ hat: [0.5, 1], at: [0.5, 1], scenarios: [2, 1] });
    expect(passK([])).toEqual({ hat: [], at: [], scenarios: [] });
  });
});

describe('a summary', () => {
  const row = (name: string, status: SummaryRow['status'], detail?: Partial<ConversationResult>): SummaryRow => ({
    name,
    column: 0,
    repeat: 0,
    status,
    costUsdMicros: 0,
    ...(detail === undefined
      ? {}
      : {
          detail: {
            conversation_history: [],
            total_turns: 3,
            duration_seconds: 1,
            working_seconds: 1,
            metrics: { per_role: {} },
            ...detail,
          } as unknown as Json,
        }),
  });

  it('never lets an infrastructure error lower the success rate, and tells its denominators', () => {
    const summary = summarizeBatch([
      row('a', 'passed'),
      row('a', 'error'),
      row('b', 'failed'),
      row('b', 'aborted'),
      row('b', 'skipped'),
    ]);
    expect(summary).toMatchObject({
      planned: 5,
      scored: 2,
      successes: 1,
      success_rate: 0.5,
      pass_hat_k: [0.5],
      pass_k_scenarios: [2],
      counts: { passed: 1, failed: 1, errors: 1, skipped: 1, aborted: 1 },
    });
  });

  it('tells flaky scenarios and an interval', () => {
    const summary = summarizeBatch([row('a', 'passed'), row('a', 'failed'), row('b', 'passed'), row('b', 'passed')]);
    expect(summary).toMatchObject({
      flaky_rate: 0.5,
      flaky_scenarios: 1,
      repeated_scenarios: 2,
      pass_hat_k: [0.75, 0.5],
      pass_at_k: [0.75, 1],
    });
    expect(summary.success_interval?.low).toBeGreaterThan(0.2);
    expect(summary.success_interval?.high).toBeLessThan(1);
  });

  it('has no NaN: nothing at all gives nulls, one result has no deviation', () => {
    for (const rows of [[], [row('a', 'passed', { score: 2 })], [row('a', 'error')]]) {
      const summary = summarizeBatch(rows);
      expect(JSON.parse(JSON.stringify(summary))).toEqual(summary);
    }
    expect(summarizeBatch([row('a', 'passed', { score: 2 })]).scores).toEqual({
      count: 1,
      mean: 2,
      deviation: null,
      min: 2,
      max: 2,
      median: 2,
      p95: 2,
    });
  });

  it('sums scores, turns, tokens and cost per role', async () => {
    const result = await conversation();
    const summary = summarizeBatch([
      row('a', 'passed', { ...result, score: 3, evaluation_status: 'completed' }),
      row('b', 'failed', { ...result, score: 1, evaluation_status: 'completed' }),
    ]);
    expect(summary).toMatchObject({
      score_distribution: { 1: 1, 3: 1 },
      scores: { mean: 2 },
      turns: { mean: 1 },
      evaluations: { completed: 2 },
      terminations: { end_call_client: 2 },
    });
    expect(summary.per_role['agent:agent']).toEqual({
      calls: 4,
      input_tokens: 400,
      output_tokens: 40,
      cost_usd: 0.0002,
    });
  });
});
