import { type CheckInput, demand } from '../check.ts';
import type { Trace } from '../subject.ts';
import { traceOfConversation } from './trace-of-conversation.ts';

/** The trace that came with the answer, else that of the conversation; or the problem that there is neither. */
export function demandTrace({ type, subject }: CheckInput): Trace {
  if (subject.trace !== undefined) return subject.trace;
  demand(subject.conversation !== undefined, `"${type}" needs a trace, and this answer has none`);
  return traceOfConversation(subject.conversation);
}
