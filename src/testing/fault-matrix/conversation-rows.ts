import type { ConversationRow, ReactionKind } from '../fault-matrix.ts';

const rows = (
  prefix: string,
  usual: ReactionKind,
  list: readonly (readonly [title: string, detail: string, reaction?: ReactionKind])[],
): ConversationRow[] =>
  list.map(([title, detail, reaction], at) => ({
    id: `${prefix}${at + 1}`,
    title,
    detail,
    reaction: reaction ?? usual,
  }));

const toolRows = rows('T', 'tell-model', [
  ['malformed or cut JSON arguments', 'never run as {}; an error result keyed to the call; at most two repairs'],
  ['valid JSON that is not an object', 'never run; an error result keyed to the call'],
  ['two JSON values one after the other', 'never run; an error result keyed to the call'],
  ['a doubled tool name', 'unknown tool: an error result with the nearest name'],
  ['an unknown tool', 'an error result with the known names'],
  ['a handoff to somebody unknown', 'an error result with the declared targets'],
  ['a handoff to itself', 'an error result'],
  ['handoffs back and forth', 'the conversation ends with a clear reason', 'end-conversation'],
  ['duplicate, empty or missing call ids', 'keyed anew inside, the original kept in the record', 'result'],
  ['a tool result without a call', 'never sent: results stand only behind their calls', 'result'],
  ['parallel calls, one of them end_call', 'all of them run, then the call ends', 'result'],
  ['arguments of 5 MB', 'an error result; the record keeps a shortened text'],
  ['a tool loop', 'eight rounds, sixteen calls, or three identical calls in a row end it', 'end-conversation'],
  ['a tool that throws', 'an error result; the conversation goes on'],
  ['a tool that hangs', 'killed by its time limit; an error result'],
  ['a tool that returns undefined', 'an error result'],
  ['a tool that returns bytes', 'an error result'],
  ['a tool that returns something that refers to itself', 'an error result'],
  ['a tool that returns 50 MB', 'an error result; nothing of that size is kept'],
  ['a tool that returns what looks like a handoff', 'data like any other; no handoff happens', 'result'],
]);

const webhookRows = rows('W', 'policy', [
  ['a webhook that hangs', 'its time limit ends it'],
  ['a redirect to a metadata address', 'not followed'],
  ['200 with a web page', 'not taken for variables'],
  ['an answer with another shape', 'a warning or error that names the field'],
  ['an answer of 10 MB', 'cut off at the size limit'],
  ['a session id that is a path, or belongs to a live session', 'refused'],
  ['a session id that is no text', 'refused'],
  ['values that look like headers or templates', 'data: never rendered, never sent as headers', 'result'],
  ['an answer byte by byte', 'its time limit ends it'],
  ['a certificate that nobody trusts', 'refused; verification cannot be turned off'],
]);

/** Troubles of tool calls (T) and of webhooks (W). */
export const conversationRows: readonly ConversationRow[] = [...toolRows, ...webhookRows];
