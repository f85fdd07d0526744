import { thresholdOf } from '../assertion-table.ts';
import { type Check, type CheckInput, demand, parsedOrText } from '../check.ts';
import { evaluationQuestion, evaluationStepsQuestion } from '../graders/prompts.ts';
import { readList, readScore } from '../graders/read-answer.ts';
import { pickPrompt, questionFor } from '../graders/rubric-prompt.ts';

const maxScore = 10;

interface Rated {
  readonly score: number;
  readonly reason: string;
}

/** Two questions: how would one check this criterion, and how does the reply do. */
async function rate(criteria: string, prompt: string, input: CheckInput): Promise<Rated> {
  const { grader, rubric, text } = input;
  const stepsPrompt = pickPrompt(rubric.rubricPrompt, { at: 0, name: 'steps' });
  const stepsQuestion = await questionFor(stepsPrompt, { criteria }, evaluationStepsQuestion(criteria), input);
  const steps = await grader.ask(stepsQuestion, readList('steps'));
  const values = {
    criteria,
    steps: steps.join('\n- '),
    maxScore: String(maxScore),
    input: parsedOrText(prompt),
    output: parsedOrText(text),
  };
  const ours = evaluationQuestion(criteria, steps, maxScore, prompt, text);
  const evaluatePrompt = pickPrompt(rubric.rubricPrompt, { at: 1, name: 'evaluate' });
  const question = await questionFor(evaluatePrompt, values, ours, input);
  const { score, reason } = await grader.ask(question, readScore(0, maxScore, 'reason'));
  return { score: score / maxScore, reason };
}

/** `g-eval`: a model plans how to check the criteria, then rates the reply from 0 to 1. Several criteria are averaged. */
export const gEval: Check = async (input) => {
  const { value, inverse, assertion, subject } = input;
  const criteria = typeof value === 'string' ? [value] : value;
  const usable = Array.isArray(criteria) && criteria.length > 0 && criteria.every((item) => typeof item === 'string');
  demand(usable, '"g-eval" needs a criterion, or a list of them, as its value');
  demand(subject.prompt !== undefined && subject.prompt !== '', '"g-eval" needs the prompt');
  const rated: Rated[] = [];
  for (const criterion of criteria) rated.push(await rate(String(criterion), subject.prompt, input));
  const score = rated.reduce((sum, { score: part }) => sum + part, 0) / rated.length;
  const threshold = thresholdOf(assertion) ?? 0.7;
  const reason = rated.map((part) => part.reason).join('\n\n');
  return {
    pass: score >= threshold !== inverse,
    score: inverse ? 1 - score : score,
    reason: reason === '' ? `Score ${score.toFixed(2)}, threshold ${threshold}` : reason,
  };
};
