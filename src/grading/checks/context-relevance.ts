import { type Check, demand } from '../check.ts';
import { extractionQuestion } from '../graders/prompts.ts';
import { readText } from '../graders/read-answer.ts';
import { joinContext, retrievedContext } from '../graders/retrieved-context.ts';
import { questionFor } from '../graders/rubric-prompt.ts';
import { reachingThreshold } from '../reach-threshold.ts';
import { linesOf, sentencesOf } from '../sentences.ts';

/** `context-relevance`: how much of the context the question needs. */
export const contextRelevance: Check = async (input) => {
  const { subject, grader, rubric } = input;
  const { query } = subject.vars;
  demand(typeof query === 'string', '"context-relevance" needs a variable "query" with the question');
  const context = await retrievedContext(input);
  const whole = joinContext(context);
  const question = await questionFor(
    rubric.rubricPrompt,
    { context: whole, query },
    extractionQuestion(query, whole),
    input,
  );
  const answer = await grader.ask(question, readText);
  const isList = typeof context !== 'string';
  const units = isList ? context : sentencesOf(context);
  const picked = isList || linesOf(whole).length > 1 ? linesOf(answer) : sentencesOf(answer);
  const needed = answer.includes('Insufficient Information') ? 0 : Math.min(new Set(picked).size, units.length);
  return reachingThreshold(input, units.length === 0 ? 0 : needed / units.length, 'Context relevance');
};
