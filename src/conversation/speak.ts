/**
 * One side speaks: model replies and tool rounds until there are words, a handoff or an end. The same for agents and
 * for the client; what differs is data (`Part`).
 *
 * Paths are `turn/part/round/position`, position 0 being the model and 1..n its tool calls. Rounds count over the whole
 * turn of a side, so a path is never used twice.
 */

import type { Recorded } from '../domain/effects.ts';
import type { Json } from '../domain/json.ts';
import type { ChatMessage, ModelRequest } from '../domain/message.ts';
import type { Outcome, Reply } from '../domain/reply.ts';
import { readEndMarker } from './end-marker.ts';
import { type Ending, endingOfFailure, looping, silent, timedOut } from './ending.ts';
import { EntryDraft } from './entry-draft.ts';
import { expectedCalls, limitReached, type Part, type Stage, timeLeft } from './stage.ts';
import { type RoundOutcome, rekey, runToolRound, type TurnCalls } from './tool-round.ts';

/** What came of it. The entry, if anything was said or done, is already in the history. */
export interface Spoken {
  readonly words: string;
  readonly ending?: Ending;
  readonly handoff?: NonNullable<RoundOutcome['handoff']>;
}

const nudge: ChatMessage = { role: 'user', content: '[Your last answer was empty. Please answer in words.]' };

export async function speak(stage: Stage, part: Part, turnCalls: TurnCalls): Promise<Spoken> {
  const draft = new EntryDraft(stage.turn, part.speaker);
  let emptyReplies = 0;
  for (;;) {
    const stop = limitReached(stage) ?? roundLimit(stage, part, turnCalls);
    if (stop !== undefined) return close(stage, part, draft, { ending: stop });
    turnCalls.rounds += 1;
    const round = turnCalls.rounds;
    const recorded = await askModel(stage, part, round, emptyReplies > 0);
    if (recorded.value.kind === 'failure')
      return close(stage, part, draft, { ending: failureEnding(stage, part, recorded) });
    const reply = recorded.value;
    const marked = readEndMarker(
      reply.text.toWellFormed().trim(),
      stage.setup.useTools ? undefined : stage.specification.end_marker,
    );
    const calls = stage.setup.useTools
      ? rekey(stage, part, reply.toolCalls, round)
      : ignoreCalls(stage, part, reply, round);
    if (isEmptyReply(part, marked.text, calls.length, marked.ended, reply, draft)) {
      emptyReplies += 1;
      stage.ledger.log({
        turn: stage.turn,
        speaker: part.speaker,
        kind: 'reply',
        path: `${stage.turn}/${part.key}/${round}/0`,
        message: 'the answer was empty',
      });
      if (emptyReplies > 1) return close(stage, part, draft, { ending: silent(part.speaker) });
      continue;
    }
    draft.addReply(marked.text, reply, recorded.times);
    if (part.side === 'agent') stage.ledger.agentActed();
    addAssistantMessage(stage, part, marked.text, calls);
    if (marked.ended)
      return close(stage, part, draft, { ending: { reason: 'end_marker' }, ended: 'conversation completed' });
    if (calls.length === 0) return close(stage, part, draft, {});
    const outcome = await runToolRound(stage, part, calls, round, turnCalls);
    draft.addCalls(outcome.calls, outcome.results, outcome.toolMs, stage.ledger.lastKnownAt);
    addToolMessages(stage, part, outcome);
    const after = afterRound(part, outcome);
    if (after !== undefined) return close(stage, part, draft, after);
  }
}

type After = {
  readonly ending?: Ending;
  readonly ended?: string;
  readonly handoff?: NonNullable<RoundOutcome['handoff']>;
};

function afterRound(part: Part, outcome: RoundOutcome): After | undefined {
  if (outcome.ended !== undefined) {
    return {
      ending: { reason: part.side === 'client' ? 'end_call_client' : 'end_call_agent' },
      ended: outcome.ended.reason,
    };
  }
  if (outcome.ending !== undefined) return { ending: outcome.ending };
  return outcome.handoff === undefined ? undefined : { handoff: outcome.handoff };
}

function roundLimit(stage: Stage, part: Part, turnCalls: TurnCalls): Ending | undefined {
  const { toolRounds } = stage.limits;
  // One more reply than tool rounds: the last one may be words.
  if (turnCalls.rounds <= toolRounds) return undefined;
  if (stage.ledger.bouncing)
    return looping(`Handoffs went back and forth in turn ${stage.turn} without an answer to the client.`);
  return looping(`${part.speaker} gave no answer after ${toolRounds} rounds of tools in turn ${stage.turn}.`);
}

async function askModel(stage: Stage, part: Part, round: number, again: boolean): Promise<Recorded<Outcome>> {
  const messages = stage.contexts.messages(part.key);
  const request: ModelRequest = {
    kind: 'chat',
    messages: again ? [...messages, nudge] : messages,
    ...(part.tools.length > 0 ? { tools: part.tools } : {}),
    ...(part.model.params === undefined ? {} : { params: part.model.params }),
    ...(part.model.temperature === undefined ? {} : { temperature: part.model.temperature }),
    ...(stage.seed === undefined ? {} : { seed: stage.seed }),
  };
  const recorded = await stage.effects.model(`${stage.turn}/${part.key}/${round}/0`, {
    role: part.role,
    provider: part.model.provider,
    request,
    expectedCalls: expectedCalls(stage, part.side),
    timeoutMs: timeLeft(stage),
  });
  stage.ledger.addModelCall(part.role, recorded);
  return recorded;
}

function failureEnding(stage: Stage, part: Part, recorded: Recorded<Outcome>): Ending {
  if (recorded.value.kind !== 'failure') return timedOut(stage.limits.timeoutMs);
  if (recorded.value.code === 'timeout' && timeLeft(stage) <= 0) return timedOut(stage.limits.timeoutMs);
  return endingOfFailure(recorded.value, part.role);
}

/** Without tools nothing can be called; a model that tries anyway is noted and its words count. */
function ignoreCalls(stage: Stage, part: Part, reply: Reply, round: number): [] {
  for (const [at, call] of reply.toolCalls.entries()) {
    const path = `${stage.turn}/${part.key}/${round}/${at + 1}`;
    stage.ledger.log({
      turn: stage.turn,
      speaker: part.speaker,
      kind: 'tool',
      path,
      message: 'there are no tools in this conversation',
      tool: call.function.name,
    });
  }
  return [];
}

/** Empty is allowed at the end of the call, when the provider withheld the words, and for an agent after tool calls. */
function isEmptyReply(
  part: Part,
  text: string,
  calls: number,
  ended: boolean,
  reply: Reply,
  draft: EntryDraft,
): boolean {
  if (text !== '' || calls > 0 || ended || isWithheld(reply)) return false;
  return part.side === 'client' ? draft.words === '' : !draft.hasCalls;
}

const isWithheld = (reply: Reply): boolean =>
  reply.finishReason === 'content_filter' || reply.finishReason === 'refusal';

function addAssistantMessage(stage: Stage, part: Part, content: string, calls: RoundOutcome['calls']): void {
  const plain = calls.map(({ id, type, function: wanted }) => ({ id, type, function: wanted }));
  stage.contexts.add(
    part.key,
    plain.length === 0 ? { role: 'assistant', content } : { role: 'assistant', content, tool_calls: plain },
  );
}

function addToolMessages(stage: Stage, part: Part, outcome: RoundOutcome): void {
  for (const [at, call] of outcome.calls.entries()) {
    stage.contexts.add(part.key, {
      role: 'tool',
      tool_call_id: call.id,
      name: call.function.name,
      content: asText(outcome.results[at] ?? null),
    });
  }
}

const asText = (result: Json): string => (typeof result === 'string' ? result : JSON.stringify(result));

function close(stage: Stage, part: Part, draft: EntryDraft, after: After): Spoken {
  const words = draft.words;
  if (!draft.isEmpty)
    stage.history.push(draft.close(part.side, part.side === 'client' ? clientContent(words, after, draft) : words));
  return {
    words,
    ...(after.ending === undefined ? {} : { ending: after.ending }),
    ...(after.handoff === undefined ? {} : { handoff: after.handoff }),
  };
}

/** The client's content is always populated. */
function clientContent(words: string, after: After, draft: EntryDraft): string {
  if (words !== '') return words;
  if (after.ended !== undefined) return `[ended the call: ${after.ended}]`;
  return draft.hasCalls ? '[used tools without words]' : '[no answer]';
}
