/**
 * Plays a stored conversation again, offline, from nothing but its result: the models say what they said, the tools give
 * what they gave. What comes out must be the same history; that is how an import is known to be faithful.
 */
import type { ConversationResult, HistoryEntry } from '../domain/conversation-result.ts';
import type { Json } from '../domain/json.ts';
import type { ToolCall } from '../domain/message.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import type { Specification } from '../prompts/specification.ts';
import { MemoryEffects, replyOf } from './memory-effects.ts';
import { runConversation } from './run-conversation.ts';
import type { ConversationPorts } from './setup.ts';

type Reply = { readonly content: string; readonly calls: readonly ToolCall[] };

export async function replayResult(result: ConversationResult): Promise<ConversationResult> {
  const history = result.conversation_history;
  const stop = new AbortController();
  const waiting = {
    agent: repliesOf(history, (entry) => entry.speaker !== 'client'),
    client: repliesOf(history, (entry) => entry.speaker === 'client'),
  };
  const results = history.flatMap((entry) => entry.tool_results ?? entry.client_tool_results ?? []);
  const effects = new MemoryEffects({
    signal: stop.signal,
    latencyMs: () => 0,
    toolMs: () => 0,
    model: (call) => {
      const next = (call.role === 'client' ? waiting.client : waiting.agent).shift();
      // The recording is over: what would come next was never said.
      if (next === undefined) stop.abort();
      return next === undefined
        ? { kind: 'failure', code: 'aborted', message: 'the recording ends here', retryable: false, billed: 'no' }
        : replyOf(
            next.content,
            next.calls.map(({ id, function: wanted }) => [wanted.name, wanted.arguments, id] as const),
          );
    },
  });
  return runConversation(
    {
      scenario: { name: result.scenario, variables: result.variables },
      snapshot: replaySpecification(history),
      useTools: true,
      models: { agent: { provider: 'recorded' }, client: { provider: 'recorded' } },
      maxTurns: Math.max(1, result.total_turns),
      firstSpeaker: history[0]?.speaker === 'client' ? 'client' : 'agent',
      limits: { toolRounds: 1_000, toolCalls: 1_000, identicalCalls: 1_000 },
    },
    effects,
    replayPorts(results),
  );
}

function repliesOf(history: readonly HistoryEntry[], wanted: (entry: HistoryEntry) => boolean): Reply[] {
  return history.filter(wanted).flatMap((entry) => {
    if (entry.rounds === undefined) return [{ content: entry.content, calls: entry.tool_calls ?? [] }];
    return entry.rounds.map((round) => ({ content: round.content, calls: round.tool_calls ?? [] }));
  });
}

/** Results in the order of the calls: recordings pair by order, since ids repeat. */
function replayPorts(results: readonly Json[]): ConversationPorts {
  let next = 0;
  return {
    http: { post: async () => ({ kind: 'fault', message: 'a replay is offline' }) },
    code: { run: async () => ({ kind: 'broke', cause: 'exit', message: 'a replay is offline' }) },
    wait: async () => undefined,
    recorded: async () => JSON.stringify(results[next++] ?? null),
  };
}

function replaySpecification(history: readonly HistoryEntry[]): SpecificationSnapshot {
  const names = [...new Set(history.flatMap(({ tool_calls: calls }) => calls ?? []).map((call) => call.function.name))];
  const tools = Object.fromEntries(
    names.map((name) => [name, { description: name, parameters: { type: 'object' }, backend: { replay: 'recorded' } }]),
  );
  const specification: Specification = {
    name: 'replay',
    version: '-',
    agents: {
      agent: { name: 'Agent', prompt: '-', tools: names },
      client: { name: 'Client', prompt: '-', tools: names },
    },
    tools,
  };
  return { hash: '-', specification, folder: '.' };
}

/** What was said and done, without times and with the recording's own call ids: equal for a faithful replay. */
export function spokenAndDone(result: ConversationResult): Json {
  return result.conversation_history.map((entry) => ({
    turn: entry.turn,
    speaker: entry.speaker,
    content: entry.content.trim(),
    calls: (entry.tool_calls ?? []).map((call) => ({ id: call.original_id ?? call.id, ...call.function })),
    results: entry.tool_results ?? entry.client_tool_results ?? [],
  }));
}
