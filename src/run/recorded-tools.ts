/** Answers of tools as an earlier run recorded them: what `backend: {replay: <run>}` gives back. */
import type { ConversationResult } from '../domain/conversation-result.ts';
import { runId } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { canonical } from '../prompts/load-specification.ts';
import type { Store } from '../store/store.ts';
import { parseArguments } from '../tools/parse-arguments.ts';
import type { ToolPorts } from '../tools/tool-emulator.ts';
import { resultOf, rowsOf } from './batch-rows.ts';
import { findRun } from './run-plan.ts';

type Answers = Map<string, Json[]>;

const keyOf = (tool: string, args: JsonObject): string => `${tool}\n${canonical(args)}`;

function note(answers: Answers, result: ConversationResult): void {
  for (const entry of result.conversation_history) {
    const results = entry.tool_results ?? entry.client_tool_results ?? [];
    for (const [at, call] of (entry.tool_calls ?? []).entries()) {
      const parsed = parseArguments(call.function.arguments);
      if ('fault' in parsed) continue;
      const { execution_message: _, ...args } = parsed.args;
      const key = keyOf(call.function.name, args);
      answers.set(key, [...(answers.get(key) ?? []), results[at] ?? null]);
    }
  }
}

/**
 * Looks answers up by tool and arguments; where the recording has several for the same call, the n-th call of a session
 * gets the n-th, and after the last the last. A run is read once.
 */
export function recordedTools(store: Store): NonNullable<ToolPorts['recorded']> {
  const sources = new Map<string, Promise<Answers>>();
  const read = async (source: string): Promise<Answers> => {
    const answers: Answers = new Map();
    for await (const row of rowsOf(await findRun(store, runId(source)))) {
      const result = resultOf(row);
      if (result !== undefined) note(answers, result);
    }
    return answers;
  };
  return async (source, { tool, args, number }) => {
    const known = sources.get(source) ?? read(source);
    sources.set(source, known);
    const found = (await known).get(keyOf(tool, args));
    const answer = found?.[Math.min(number, found.length) - 1];
    // As text, so that it is parsed to the same value again.
    return answer === undefined ? undefined : JSON.stringify(answer);
  };
}
