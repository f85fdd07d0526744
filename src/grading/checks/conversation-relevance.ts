import { isObject, type Json } from '../../domain/json.ts';
import { asText, type Check, type CheckInput, demand } from '../check.ts';
import type { AnswerReader } from '../graders/grader.ts';
import { relevanceOfReplyQuestion } from '../graders/prompts.ts';
import { objectIn } from '../graders/read-answer.ts';
import { questionFor } from '../graders/rubric-prompt.ts';
import { reachingThreshold } from '../reach-threshold.ts';

const defaultWindow = 5;

interface Exchange {
  readonly [key: string]: Json;
  readonly input: string;
  readonly output: string;
}

const readVerdict: AnswerReader<{ relevant: boolean; reason: string }> = (text, output) => {
  const answer = objectIn(text, output);
  const said = answer?.['verdict'];
  if (said !== 'yes' && said !== 'no') return { problem: `"verdict" is neither 'yes' nor 'no'` };
  return {
    value: { relevant: said === 'yes', reason: typeof answer?.['reason'] === 'string' ? answer['reason'] : '' },
  };
};

/** The exchanges of a played conversation: what the client said, and what the agent answered. */
function spokenExchanges(conversation: NonNullable<CheckInput['subject']['conversation']>): Exchange[] {
  const exchanges: Exchange[] = [];
  let heard = '';
  for (const entry of conversation.conversation_history) {
    if (entry.speaker === 'client') heard = entry.content;
    else if (entry.content !== '') exchanges.push({ input: heard, output: entry.content });
  }
  return exchanges;
}

/** What was said: the played conversation, the earlier exchanges of the same thread, or this prompt and answer alone. */
function exchangesOf({ subject, text, type }: CheckInput): Exchange[] {
  if (subject.conversation !== undefined) return spokenExchanges(subject.conversation);
  const earlier = subject.vars['_conversation'];
  if (Array.isArray(earlier) && earlier.length > 0) {
    return earlier
      .filter(isObject)
      .map((item) => ({ input: asText(item['input'] ?? ''), output: asText(item['output'] ?? '') }));
  }
  demand(subject.prompt !== undefined && subject.prompt !== '', `"${type}" needs the prompt`);
  return [{ input: subject.prompt, output: text }];
}

/** `conversation-relevance`: each reply has to do with what was said before it, within a window of exchanges. */
export const conversationRelevance: Check = async (input) => {
  const { assertion, subject, grader, rubric } = input;
  const exchanges = exchangesOf(input);
  const size = assertion.config?.['windowSize'];
  const window = typeof size === 'number' && size > 0 ? size : defaultWindow;
  const complaints: string[] = [];
  let relevant = 0;
  for (let at = 0; at < exchanges.length; at += 1) {
    const seen = exchanges.slice(Math.max(0, at - window + 1), at + 1);
    const spoken = seen.flatMap((one) => [
      { role: 'user', content: one.input },
      { role: 'assistant', content: one.output },
    ]);
    const ours = relevanceOfReplyQuestion(JSON.stringify(spoken, null, 2));
    const question = await questionFor(rubric.rubricPrompt, { ...subject.vars, messages: seen }, ours, input);
    const verdict = await grader.ask(question, readVerdict);
    if (verdict.relevant) relevant += 1;
    else if (verdict.reason !== '') complaints.push(verdict.reason);
  }
  const outcome = reachingThreshold(input, exchanges.length === 0 ? 0 : relevant / exchanges.length, 'Relevance');
  const counted = `${relevant} of ${exchanges.length} replies were relevant`;
  return { ...outcome, reason: [counted, ...complaints].join('; ') };
};
