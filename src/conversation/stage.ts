import type { HistoryEntry } from '../domain/conversation-result.ts';
import type { Effects } from '../domain/effects.ts';
import type { ToolDefinition } from '../domain/message.ts';
import type { AgentSpecification, Specification } from '../prompts/specification.ts';
import type { ToolEmulator, ToolSession } from '../tools/tool-emulator.ts';
import type { Contexts } from './contexts.ts';
import { endCallName, endCallTool } from './end-call.ts';
import { type Ending, timedOut, tooExpensive } from './ending.ts';
import { handoffTools } from './handoff.ts';
import type { Ledger } from './ledger.ts';
import type { ConversationLimits, ConversationSetup, ModelChoice } from './setup.ts';

/** One conversation while it is played: one object per conversation, never shared. */
export interface Stage {
  readonly setup: ConversationSetup;
  readonly specification: Specification;
  readonly limits: ConversationLimits;
  readonly effects: Effects;
  readonly emulator: ToolEmulator;
  readonly session: ToolSession;
  readonly contexts: Contexts;
  readonly ledger: Ledger;
  readonly history: HistoryEntry[];
  readonly usedCallIds: Set<string>;
  readonly seed: number | undefined;
  readonly onProgress: (note: string) => void;
  turn: number;
  /** The agent that holds the conversation. */
  holder: string;
}

/** One side's way to speak: who it is, with which model and which tools. */
export interface Part {
  readonly side: 'agent' | 'client';
  /** The key in the specification. */
  readonly key: string;
  /** As history names it. */
  readonly speaker: string;
  readonly role: string;
  readonly model: ModelChoice;
  readonly tools: readonly ToolDefinition[];
}

export function agentPart(stage: Stage): Part {
  const { setup, specification, holder: key } = stage;
  const agent = specification.agents[key];
  return {
    side: 'agent',
    key,
    speaker: setup.useTools ? `agent_${key}` : 'agent',
    role: `agent:${key}`,
    model: modelOf(agent, setup.models.agents?.[key] ?? setup.models.agent),
    tools: setup.useTools ? [...offered(stage, agent), ...handoffTools(specification, key)] : [],
  };
}

export function clientPart(stage: Stage): Part {
  const { setup, specification } = stage;
  const client = specification.agents['client'];
  const tools = setup.useTools ? offered(stage, client) : [];
  const withEnd = tools.some((tool) => tool.function.name === endCallName) ? tools : [...tools, endCallTool];
  return {
    side: 'client',
    key: 'client',
    speaker: 'client',
    role: 'client',
    model: modelOf(client, setup.models.client ?? setup.models.agent),
    tools: setup.useTools ? withEnd : [],
  };
}

function offered(stage: Stage, agent: AgentSpecification | undefined): ToolDefinition[] {
  const names = agent?.tools ?? [];
  const end = names.includes(endCallName) ? [endCallTool] : [];
  return [...stage.emulator.definitions(names.filter((name) => name !== endCallName)), ...end];
}

function modelOf(agent: AgentSpecification | undefined, fallback: ModelChoice): ModelChoice {
  const own = agent?.model;
  const chosen =
    own === undefined
      ? fallback
      : typeof own === 'string'
        ? { ...fallback, provider: own }
        : {
            ...fallback,
            provider: own.model === undefined ? own.provider : `${own.provider}:${own.model}`,
            ...(own.temperature === undefined ? {} : { temperature: own.temperature }),
          };
  return agent?.temperature === undefined ? chosen : { ...chosen, temperature: agent.temperature };
}

/** Working time that is left. */
export const timeLeft = (stage: Stage): number => stage.limits.timeoutMs - stage.ledger.workingMs;

/** The conversation's own limits, looked at before anything new is asked for. */
export function limitReached(stage: Stage): Ending | undefined {
  if (timeLeft(stage) <= 0) return timedOut(stage.limits.timeoutMs);
  if (stage.ledger.costMicros >= stage.limits.maxCostMicros) return tooExpensive(stage.limits.maxCostMicros);
  return undefined;
}

/** How many more calls are to be expected, this one included. */
export function expectedCalls(stage: Stage, side: 'agent' | 'client'): number {
  const turnsLeft = Math.max(1, stage.limits.expectedTurns - stage.turn + 1);
  return Math.max(1, turnsLeft * 2 - (side === 'client' ? 1 : 0));
}
