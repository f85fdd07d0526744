import { ParlaneError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import { scenarioFaults } from '../prompts/load-scenarios.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import type { ToolPorts } from '../tools/tool-emulator.ts';
import type { EnrichmentSettings, LiveSessions } from './enrichment.ts';

/** Which model plays a part. */
export interface ModelChoice {
  /** A provider id or label that the run can resolve. */
  readonly provider: string;
  readonly temperature?: number;
  readonly params?: JsonObject;
}

/** How far one turn may go with tools. */
export interface TurnLimits {
  readonly toolRounds: number;
  readonly toolCalls: number;
  /** So many identical calls in a row are a loop. */
  readonly identicalCalls: number;
}

/** Everything that decides how a conversation is played, as plain data. */
export interface ConversationSetup {
  readonly scenario: Scenario;
  readonly snapshot: SpecificationSnapshot;
  readonly useTools: boolean;
  readonly models: {
    readonly agent: ModelChoice;
    /** Not needed when the scenario's script says every line. */
    readonly client?: ModelChoice;
    /** A model of its own for single agents; a specification's own choice wins. */
    readonly agents?: Readonly<Record<string, ModelChoice>>;
  };
  /** Of this call: it wins over the scenario's own. */
  readonly maxTurns?: number;
  readonly timeoutSec?: number;
  readonly maxCostUsd?: number;
  readonly firstSpeaker?: 'agent' | 'client';
  /** Of the batch: for scenarios that do not say it themselves. */
  readonly batch?: {
    readonly maxTurns?: number;
    readonly timeoutSec?: number;
    readonly maxCostUsd?: number;
    readonly firstSpeaker?: 'agent' | 'client';
  };
  readonly limits?: Partial<TurnLimits>;
  readonly enrichment?: EnrichmentSettings;
  /** What the client says in certain turns instead of its own line: for forks. */
  readonly clientSays?: Readonly<Record<number, string>>;
}

/** What a conversation may do to the world beside its effects. */
export interface ConversationPorts extends ToolPorts {
  /** Sessions that are being played now; a webhook may not give out one of them again. */
  readonly liveSessions?: LiveSessions;
  /** For a person: "turn 6 of 12, lookup_order". */
  readonly onProgress?: (note: string) => void;
}

export interface ConversationLimits extends TurnLimits {
  readonly maxTurns: number;
  readonly timeoutMs: number;
  readonly maxCostMicros: number;
  readonly expectedTurns: number;
}

export const defaultMaxTurns = 30;
const defaultTimeoutSec = 90;

/** The limits in force: the call's own, else the scenario's, else the batch's, else the defaults. */
export function limitsOf(setup: ConversationSetup): ConversationLimits {
  const { scenario } = setup;
  const maxTurns = setup.maxTurns ?? scenario.max_turns ?? setup.batch?.maxTurns ?? defaultMaxTurns;
  const timeoutSec = setup.timeoutSec ?? scenario.timeout_sec ?? setup.batch?.timeoutSec ?? defaultTimeoutSec;
  const own = typeof scenario['max_cost'] === 'number' ? scenario['max_cost'] : undefined;
  const maxCost = setup.maxCostUsd ?? own ?? setup.batch?.maxCostUsd ?? Number.POSITIVE_INFINITY;
  if (!Number.isInteger(maxTurns) || maxTurns < 1) throw outOfRange('max_turns', maxTurns, 'a whole number from 1');
  if (!(timeoutSec > 0) || !Number.isFinite(timeoutSec))
    throw outOfRange('timeout_sec', timeoutSec, 'a number of seconds above 0');
  if (!(maxCost > 0)) throw outOfRange('max_cost', maxCost, 'an amount above 0');
  return {
    toolRounds: setup.limits?.toolRounds ?? 8,
    toolCalls: setup.limits?.toolCalls ?? 16,
    identicalCalls: setup.limits?.identicalCalls ?? 3,
    maxTurns,
    timeoutMs: timeoutSec * 1000,
    maxCostMicros: maxCost * 1_000_000,
    expectedTurns: Math.min(scenario.expected_turns ?? maxTurns, maxTurns),
  };
}

const outOfRange = (name: string, value: number, expected: string): ParlaneError =>
  new ParlaneError('conversation/limit', `${name} is ${value}.`, `It must be ${expected}.`, { name, value });

/** Refuses, before anything is sent, what could not be played. */
export function checkSetup(setup: ConversationSetup): void {
  const faults = scenarioFaults(setup.scenario);
  if (faults.length > 0) {
    throw new ParlaneError(
      'scenario/invalid',
      `The scenario cannot be played: ${faults.join('; ')}.`,
      'Correct it; nothing was sent.',
      { faults },
    );
  }
  limitsOf(setup);
  if (setup.models.client === undefined && needsClientModel(setup)) {
    throw new ParlaneError(
      'conversation/no-client-model',
      `No model plays the client of "${setup.scenario.name}".`,
      'Name one, or give the scenario a script.',
      {},
    );
  }
}

function needsClientModel({ scenario, snapshot }: ConversationSetup): boolean {
  if (snapshot.specification.agents['client']?.model !== undefined) return false;
  return scenario.script === undefined || scenario.script.some((line) => typeof line === 'object' && 'model' in line);
}
