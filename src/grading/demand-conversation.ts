import { type CheckInput, demand } from './check.ts';
import type { Conversation } from './subject.ts';

/** The conversation, or the problem that this is none. */
export function demandConversation({ type, subject }: CheckInput): Conversation {
  demand(subject.conversation !== undefined, `"${type}" looks at conversations, and this is a single answer`);
  return subject.conversation;
}
