import type { EpochMillis } from '../domain/ids.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import { type ImportedConversation, importMessages } from './import-messages.ts';

export interface Imported {
  readonly conversations: readonly ImportedConversation[];
  readonly problems: readonly Problem[];
}

/** Reads tau-bench trajectories: a JSON list of `{task_id, trial, reward, info, traj}`. */
export function importTauBench(file: string, text: string, importedAt: EpochMillis): Imported {
  let list: Json;
  try {
    list = JSON.parse(text);
  } catch (error) {
    return {
      conversations: [],
      problems: [problemAt(file, 1, `is not JSON: ${error instanceof Error ? error.message : String(error)}`)],
    };
  }
  if (!Array.isArray(list))
    return { conversations: [], problems: [problemAt(file, 1, 'must be a list of trajectories')] };
  const problems: Problem[] = [];
  const conversations = list.flatMap((item: Json, at): ImportedConversation[] => {
    const trajectory = isObject(item) ? (item['traj'] ?? item['messages']) : undefined;
    if (!isObject(item) || !Array.isArray(trajectory)) {
      problems.push(problemAt(file, 1, `item ${at + 1} has no "traj"`));
      return [];
    }
    const task = String(item['task_id'] ?? at);
    const trial = typeof item['trial'] === 'number' ? item['trial'] : 0;
    return [
      importMessages({
        name: `task-${task}`,
        repeat: trial,
        messages: trajectory,
        variables: goalOf(item),
        reward: typeof item['reward'] === 'number' ? item['reward'] : null,
        sessionId: `tau-bench-${task}-${trial}`,
        format: 'tau-bench',
        importedAt,
        ended: (last) => {
          if (last?.speaker === 'client') return last.content.includes('###STOP###') ? 'end_marker' : 'max_turns';
          return last?.tool_calls?.at(-1)?.function.name === 'transfer_to_human_agents'
            ? 'end_call_agent'
            : 'max_turns';
        },
      }),
    ];
  });
  return { conversations, problems };
}

function goalOf(item: JsonObject): JsonObject {
  const task = isObject(item['info']) && isObject(item['info']['task']) ? item['info']['task'] : {};
  return typeof task['instruction'] === 'string' ? { goal: task['instruction'] } : {};
}

const problemAt = (file: string, line: number, message: string): Problem => ({ file, line, column: 1, message });

/** Reads OpenAI-style message logs: one conversation a line, a list of messages or an object that holds one. */
export function importOpenAi(file: string, text: string, importedAt: EpochMillis): Imported {
  const problems: Problem[] = [];
  const repeats = new Map<string, number>();
  const conversations = text.split('\n').flatMap((line, at): ImportedConversation[] => {
    if (line.trim() === '') return [];
    let data: Json;
    try {
      data = JSON.parse(line);
    } catch (error) {
      problems.push(problemAt(file, at + 1, `is not JSON: ${error instanceof Error ? error.message : String(error)}`));
      return [];
    }
    const messages = Array.isArray(data) ? data : isObject(data) ? data['messages'] : undefined;
    if (!Array.isArray(messages)) {
      problems.push(problemAt(file, at + 1, 'holds no "messages"'));
      return [];
    }
    const facts = isObject(data) ? data : {};
    const name = String(facts['name'] ?? facts['scenario'] ?? facts['id'] ?? `line-${at + 1}`);
    const repeat = repeats.get(name) ?? 0;
    repeats.set(name, repeat + 1);
    const variables = isObject(facts['variables'])
      ? facts['variables']
      : isObject(facts['metadata'])
        ? facts['metadata']
        : {};
    return [
      importMessages({
        name,
        repeat,
        messages,
        variables,
        reward: rewardOf(facts),
        sessionId:
          typeof facts['session_id'] === 'string' && facts['session_id'] !== ''
            ? facts['session_id']
            : `openai-${name}-${repeat}`,
        format: 'openai',
        importedAt,
        ended: (last) =>
          last?.tool_calls?.some((call) => call.function.name === 'end_call')
            ? last.speaker === 'client'
              ? 'end_call_client'
              : 'end_call_agent'
            : 'max_turns',
      }),
    ];
  });
  return { conversations, problems };
}

function rewardOf(facts: JsonObject): number | null {
  for (const key of ['reward', 'success', 'passed']) {
    const value = facts[key];
    if (typeof value === 'number') return value;
    if (typeof value === 'boolean') return value ? 1 : 0;
  }
  return null;
}
