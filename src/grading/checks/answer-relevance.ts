import { type Check, demand, parsedOrText } from '../check.ts';
import { guessQuestionQuestion } from '../graders/prompts.ts';
import { readText } from '../graders/read-answer.ts';
import { questionFor } from '../graders/rubric-prompt.ts';
import { reachingThreshold } from '../reach-threshold.ts';
import { cosineSimilarity } from '../vectors.ts';

const guesses = 3;

/** `answer-relevance`: questions guessed from the answer alone are near the question that was asked. */
export const answerRelevance: Check = async (input) => {
  const { output, text, subject, grader, rubric } = input;
  demand(typeof output === 'string' || subject.conversation !== undefined, '"answer-relevance" needs text as output');
  const { query } = subject.vars;
  const asked = typeof query === 'string' ? query : subject.prompt;
  demand(asked !== undefined && asked !== '', '"answer-relevance" needs the prompt');
  const ours = guessQuestionQuestion(text);
  const question = await questionFor(rubric.rubricPrompt, { answer: parsedOrText(text) }, ours, input);
  const guessed: string[] = [];
  for (let n = 0; n < guesses; n += 1) guessed.push(await grader.ask(question, readText));
  const wanted = await grader.embed(asked);
  const near: number[] = [];
  for (const guess of guessed) near.push(cosineSimilarity(wanted, await grader.embed(guess)));
  return reachingThreshold(input, near.reduce((sum, one) => sum + one, 0) / near.length, 'Relevance');
};
