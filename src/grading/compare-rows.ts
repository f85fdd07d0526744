/**
 * Checks that compare the answers of all columns to one test: they run when all its rows are there, and turn at most
 * passes into fails.
 */
import type { Effects } from '../domain/effects.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { asText, broken, CheckProblem, parsedOrText } from './check.ts';
import type { GradeOptions } from './grade.ts';
import { type AnswerReader, Grader } from './graders/grader.ts';
import { bestOfQuestion } from './graders/prompts.ts';
import { questionFor } from './graders/rubric-prompt.ts';
import { addUsage } from './score.ts';

/** One row of a test as comparisons see it. */
export interface ComparedRow {
  /** Null for rows without an answer. */
  readonly output: Json;
  /** What the row came to so far. */
  readonly verdict: Verdict;
}

const readIndex =
  (count: number): AnswerReader<number> =>
  (text) => {
    const found = /\d+/.exec(text)?.[0];
    const index = found === undefined ? Number.NaN : Number.parseInt(found, 10);
    return index >= 0 && index < count ? { value: index } : { problem: `it is not an index from 0 to ${count - 1}` };
  };

async function chooseBest(
  assertion: Assertion,
  outputs: readonly string[],
  vars: JsonObject,
  grader: Grader,
  effects: Effects,
  options: GradeOptions,
): Promise<number> {
  if (typeof assertion.value !== 'string') throw new CheckProblem('"select-best" needs a criterion as its value');
  if (outputs.length < 2) throw new CheckProblem('"select-best" needs at least two outputs to choose from');
  const criteria = assertion.value;
  const values = { ...vars, criteria, outputs: outputs.map(parsedOrText) };
  const prompt = assertion.rubricPrompt ?? options.grading?.rubricPrompt;
  const question = await questionFor(prompt, values, bestOfQuestion(criteria, outputs), {
    ports: options.ports,
    baseDir: options.baseDir,
    effects,
  });
  return grader.ask(question, readIndex(outputs.length));
}

/** `select-best`: a model chooses; the verdicts are in the order of the rows. `index` names the check in its case. */
export async function selectBest(
  assertion: Assertion,
  rows: readonly ComparedRow[],
  vars: JsonObject,
  index: number,
  effects: Effects,
  options: GradeOptions,
): Promise<Verdict[]> {
  const grader = new Grader({
    index,
    effects,
    candidates: [assertion.provider, options.grading?.provider],
    defaults: options.defaultGraders ?? {},
    vars,
  });
  const outputs = rows.map(({ output }) => (output === null ? '' : asText(output)));
  try {
    const best = await chooseBest(assertion, outputs, vars, grader, effects, options);
    const usage = grader.usage === undefined ? {} : { usage: grader.usage };
    return rows.map((_, at) => ({
      assertion,
      pass: at === best,
      score: at === best ? 1 : 0,
      reason: `${at === best ? 'Chosen' : 'Not chosen'} as the best: ${String(assertion.value)}`,
      ...usage,
    }));
  } catch (error) {
    if (effects.signal.aborted) throw error;
    const problem = broken(error instanceof Error ? error.message : String(error));
    return rows.map(() => ({ assertion, ...problem }));
  }
}

/** What a row's other checks came to, by the assertion's own method and weights. */
function totalOf({ verdict }: ComparedRow, value: JsonObject): { score: number; weight: number; count: number } {
  const weights = isObject(value['weights']) ? value['weights'] : {};
  const parts = (verdict.componentResults ?? []).filter(
    ({ assertion }) => assertion !== undefined && assertion.type !== 'max-score' && assertion.type !== 'select-best',
  );
  if (parts.length === 0) throw new CheckProblem('"max-score" needs at least one other assertion to take scores from');
  let sum = 0;
  let weight = 0;
  for (const { assertion, score } of parts) {
    const said = weights[assertion?.type ?? ''];
    const counts = typeof said === 'number' ? said : 1;
    sum += score * counts;
    weight += counts;
  }
  return { score: value['method'] === 'sum' ? sum : weight > 0 ? sum / weight : 0, weight, count: parts.length };
}

/** `max-score`: the row whose other checks scored highest; of equals the first. */
export function maxScore(assertion: Assertion, rows: readonly ComparedRow[]): Verdict[] {
  const value = isObject(assertion.value) ? assertion.value : {};
  try {
    if (rows.length < 2) throw new CheckProblem('"max-score" needs at least two outputs to choose from');
    const totals = rows.map((row) => totalOf(row, value));
    const best = Math.max(...totals.map(({ score }) => score));
    const winner = totals.findIndex(({ score }) => score === best);
    const reaches = typeof value['threshold'] !== 'number' || best >= value['threshold'];
    return totals.map(({ score, weight, count }, at) => {
      const wins = at === winner && reaches;
      return {
        assertion,
        pass: wins,
        score: wins ? 1 : 0,
        reason: `${wins ? 'Highest' : 'Not chosen'}: ${score.toFixed(3)}, the highest is ${best.toFixed(3)}`,
        namedScores: { maxScore: score, assertionCount: count, totalWeight: weight },
      };
    });
  } catch (error) {
    const problem = broken(error instanceof Error ? error.message : String(error));
    return rows.map(() => ({ assertion, ...problem }));
  }
}

/** A row's verdict after a comparison: it still passes only when both do, and a lost comparison takes its score. */
export function withComparison(verdict: Verdict, comparison: Verdict): Verdict {
  const usage = addUsage(verdict.usage, comparison.usage);
  const isMaxScore = comparison.assertion?.type === 'max-score';
  const joined = {
    ...verdict,
    ...(isMaxScore ? { namedScores: { ...verdict.namedScores, ...comparison.namedScores } } : {}),
    componentResults: [...(verdict.componentResults ?? []), comparison],
    ...(usage === undefined ? {} : { usage }),
  };
  if (verdict.error !== undefined) return joined;
  if (comparison.error !== undefined) {
    return { ...joined, pass: false, score: 0, reason: comparison.error, error: comparison.error };
  }
  if (comparison.pass) return joined;
  const reason = verdict.pass || !isMaxScore ? comparison.reason : verdict.reason;
  return { ...joined, pass: false, score: comparison.score, reason };
}
