import { type Check, demand } from '../check.ts';
import type { AnswerReader } from '../graders/grader.ts';
import { attributionQuestion } from '../graders/prompts.ts';
import { joinContext, retrievedContext } from '../graders/retrieved-context.ts';
import { questionFor } from '../graders/rubric-prompt.ts';
import { reachingThreshold } from '../reach-threshold.ts';
import { linesOf } from '../sentences.ts';

/** The share of lines that end in [Attributed]. */
const readShare: AnswerReader<number> = (text) => {
  const marked = linesOf(text.toLowerCase()).filter((line) => /\[(?:not )?attributed\]/.test(line));
  const supported = marked.filter((line) => !line.includes('[not attributed]'));
  return marked.length === 0
    ? { problem: 'no line has [Attributed] or [Not Attributed]' }
    : { value: supported.length / marked.length };
};

/** `context-recall`: the context supports the expected answer, sentence by sentence. */
export const contextRecall: Check = async (input) => {
  const { value, subject, grader, rubric } = input;
  demand(typeof value === 'string', '"context-recall" needs the expected answer as its value');
  const context = joinContext(await retrievedContext(input, subject.prompt));
  const values = { ...subject.vars, context, groundTruth: value };
  const question = await questionFor(rubric.rubricPrompt, values, attributionQuestion(context, value), input);
  return reachingThreshold(input, await grader.ask(question, readShare), 'Recall');
};
