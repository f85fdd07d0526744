import { type Check, demand, parsedOrText } from '../check.ts';
import type { AnswerReader } from '../graders/grader.ts';
import { statementsQuestion, supportQuestion } from '../graders/prompts.ts';
import { readText } from '../graders/read-answer.ts';
import { joinContext, retrievedContext } from '../graders/retrieved-context.ts';
import { pickPrompt, questionFor } from '../graders/rubric-prompt.ts';
import { reachingThreshold } from '../reach-threshold.ts';
import { linesOf } from '../sentences.ts';

const lastLine = 'final verdict for each statement in order:';

/** The share of statements with a yes; a statement without a verdict counts as no. */
const readSupport =
  (statements: number): AnswerReader<number> =>
  (text) => {
    const plain = text.toLowerCase();
    const at = plain.indexOf(lastLine);
    const verdicts =
      at >= 0
        ? plain
            .slice(at + lastLine.length)
            .split('.')
            .filter((part) => part.trim() !== '')
            .map((part) => part.includes('yes'))
        : [...plain.matchAll(/verdict: (yes|no)/g)].map((match) => match[1] === 'yes');
    if (verdicts.length === 0) return { problem: `it has no line "${lastLine}"` };
    const bad = verdicts.filter((yes) => !yes).length + Math.max(0, statements - verdicts.length);
    return { value: Math.min(1, Math.max(0, 1 - bad / statements)) };
  };

/** `context-faithfulness`: what the answer says is in the context. */
export const contextFaithfulness: Check = async (input) => {
  const { subject, output, text, grader, rubric } = input;
  const { query } = subject.vars;
  demand(typeof query === 'string', '"context-faithfulness" needs a variable "query" with the question');
  demand(typeof output === 'string', '"context-faithfulness" needs text as output');
  const { rubricPrompt } = rubric;
  demand(
    rubricPrompt === undefined || Array.isArray(rubricPrompt),
    '"context-faithfulness" takes a list of two rubric prompts',
  );
  const context = joinContext(await retrievedContext(input));
  const first = await questionFor(
    pickPrompt(rubricPrompt, { at: 0, name: 'statements' }),
    { ...subject.vars, question: query, answer: parsedOrText(text) },
    statementsQuestion(query, text),
    input,
  );
  const statements = linesOf(await grader.ask(first, readText));
  const second = await questionFor(
    pickPrompt(rubricPrompt, { at: 1, name: 'verdicts' }),
    { ...subject.vars, context, statements },
    supportQuestion(context, statements),
    input,
  );
  return reachingThreshold(input, await grader.ask(second, readSupport(statements.length)), 'Faithfulness');
};
