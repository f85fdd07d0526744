import type { Json } from '../domain/json.ts';
import type { ToolDefinition } from '../domain/message.ts';
import { notAgents, type Specification } from '../prompts/specification.ts';
import { parseArguments } from '../tools/parse-arguments.ts';

/** Handoffs between agents, as tools that only the engine answers. */

const prefix = 'handoff_';
export const isHandoff = (toolName: string): boolean => toolName.startsWith(prefix);

/** The handoff tools of an agent, from its `handoffs` map. */
export function handoffTools(specification: Specification, agent: string): ToolDefinition[] {
  return Object.entries(specification.agents[agent]?.handoffs ?? {}).map(([target, when]) => ({
    type: 'function',
    function: {
      name: `${prefix}${target}`,
      description: `Hands the conversation over to ${specification.agents[target]?.name ?? target}. ${when}`.trim(),
      parameters: {
        type: 'object',
        properties: {
          reason: { type: 'string', description: 'Why you hand over.' },
          context: { type: 'string', description: 'What the other one needs to know.' },
        },
        required: ['reason'],
      },
    },
  }));
}

export type Handoff =
  | { readonly target: string; readonly reason: string; readonly context: string }
  | { readonly fault: string; readonly malformed?: boolean };

/** Reads a `handoff_{target}` call: where to, or why not. */
export function readHandoff(
  specification: Specification,
  agent: string,
  toolName: string,
  argumentText: string,
): Handoff {
  const target = toolName.slice(prefix.length);
  if (target === agent) return { fault: `"${agent}" cannot hand over to itself` };
  if (notAgents.has(target)) return { fault: `nobody can hand over to "${target}"` };
  const declared = Object.keys(specification.agents[agent]?.handoffs ?? {});
  if (!declared.includes(target)) {
    return { fault: `"${agent}" cannot hand over to "${target}"; possible: ${declared.join(', ') || 'nobody'}` };
  }
  const parsed = parseArguments(argumentText);
  if ('fault' in parsed) return { fault: parsed.fault, malformed: true };
  const { reason, context } = parsed.args;
  if (typeof reason !== 'string' || reason.trim() === '') return { fault: 'a handoff needs a "reason"' };
  return { target, reason, context: textOf(context) };
}

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The contract's result of a handoff. */
export const handoffResult = (target: string): Json => ({
  status: 'handoff_completed',
  target_agent: target,
  message: `Successfully handed off conversation to ${target}`,
});
