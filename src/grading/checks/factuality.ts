import type { JsonObject } from '../../domain/json.ts';
import { type Check, demand, parsedOrText } from '../check.ts';
import type { AnswerReader } from '../graders/grader.ts';
import { factualityQuestion } from '../graders/prompts.ts';
import { objectIn } from '../graders/read-answer.ts';
import { questionFor } from '../graders/rubric-prompt.ts';

type Category = 'A' | 'B' | 'C' | 'D' | 'E';

const meanings: Readonly<Record<Category, readonly [key: string, score: number, words: string]>> = {
  A: ['subset', 1, 'The answer says part of what the expert says'],
  B: ['superset', 1, 'The answer says more than the expert'],
  C: ['agree', 1, 'The answer says what the expert says'],
  D: ['disagree', 0, 'The answer contradicts the expert'],
  E: ['differButFactual', 1, 'The answer differs from the expert in nothing that matters'],
};

const readCategory: AnswerReader<{ category: Category; reason: string }> = (text, output) => {
  const answer = objectIn(text, output);
  const said = answer?.['category'] ?? /\(?([A-Ea-e])\)/.exec(text)?.[1];
  const category = typeof said === 'string' ? said.trim().toUpperCase() : '';
  if (!/^[A-E]$/.test(category)) return { problem: 'it has no category from A to E' };
  const reason = answer?.['reason'];
  return { value: { category: category as Category, reason: typeof reason === 'string' ? reason.trim() : '' } };
};

function scoreOf(category: Category, scores: JsonObject | undefined): number {
  const [key, fallback] = meanings[category];
  const said = scores?.[key];
  return typeof said === 'number' ? said : fallback;
}

/** `factuality`: a model compares the facts of the answer with those of a reference. */
export const factuality: Check = async (input) => {
  const { type, value, text, subject, inverse, grader, rubric } = input;
  demand(typeof value === 'string', `"${type}" needs the reference answer as its value`);
  demand(subject.prompt !== undefined && subject.prompt !== '', `"${type}" needs the prompt`);
  const values = { ...subject.vars, input: subject.prompt, ideal: value, completion: parsedOrText(text) };
  const ours = factualityQuestion(subject.prompt, value, text);
  const question = await questionFor(rubric.rubricPrompt, values, ours, input);
  const { category, reason } = await grader.ask(question, readCategory);
  const score = scoreOf(category, rubric.factuality);
  return {
    pass: score > 0 !== inverse,
    score: inverse ? 1 - score : score,
    reason: reason === '' ? meanings[category][2] : reason,
    metadata: { category },
  };
};
