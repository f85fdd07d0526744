import { type Check, demand, parsedOrText } from '../check.ts';
import type { AnswerReader } from '../graders/grader.ts';
import { closedQaQuestion } from '../graders/prompts.ts';
import { questionFor } from '../graders/rubric-prompt.ts';

/** The last letter decides; before it the model thought aloud. */
const readLetter: AnswerReader<boolean> = (text) => {
  const last = text.trimEnd().at(-1);
  return last === 'Y' || last === 'N' ? { value: last === 'Y' } : { problem: 'it does not end with Y or N' };
};

/** `model-graded-closedqa`: a model decides whether the answer meets a criterion. */
export const closedQa: Check = async (input) => {
  const { value, text, subject, inverse, grader, rubric } = input;
  demand(typeof value === 'string', '"model-graded-closedqa" needs the criterion as its value');
  demand(subject.prompt !== undefined && subject.prompt !== '', '"model-graded-closedqa" needs the prompt');
  const values = { ...subject.vars, input: subject.prompt, criteria: value, completion: parsedOrText(text) };
  const question = await questionFor(rubric.rubricPrompt, values, closedQaQuestion(subject.prompt, value, text), input);
  const meets = await grader.ask(question, readLetter);
  const pass = meets !== inverse;
  return {
    pass,
    score: pass ? 1 : 0,
    reason: `The answer ${meets ? 'meets' : 'does not meet'} the criterion: ${value}`,
  };
};
