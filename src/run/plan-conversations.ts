/** Scenarios x repeats -> conversation cases, and the snapshot from which they can be run again. */
import { hash } from 'node:crypto';
import { defaultMaxTurns } from '../conversation/setup.ts';
import type { ConversationCase } from '../domain/case.ts';
import { caseIndex, caseKey } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { Assertion } from '../domain/verdict.ts';
import { canonical, keyCounter } from '../plan/case-key.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import type { Specification } from '../prompts/specification.ts';
import type { ConversationDetail } from './conversation-case.ts';

/** One batch of conversations: what is the same for all of its cases. */
export interface ConversationBatch extends Omit<ConversationDetail, 'scenario' | 'specification'> {
  readonly snapshot: SpecificationSnapshot;
  readonly scenarios: readonly Scenario[];
  readonly repeat?: number;
  /** Of the batch; a scenario's own come after them. */
  readonly checks?: readonly Assertion[];
  /** Calls per scenario name in earlier runs of this specification. */
  readonly expectedCalls?: ReadonlyMap<string, number>;
}

export interface PlanPosition {
  readonly firstIndex?: number;
  readonly column?: number;
  readonly count?: (key: string) => string;
}

/** The cases in plan order. */
export function planConversations(
  batch: ConversationBatch,
  { firstIndex = 0, column = 0, count = keyCounter() }: PlanPosition = {},
): ConversationCase[] {
  const { snapshot, scenarios, repeat = 1, checks = [], expectedCalls, ...shared } = batch;
  const pairs = scenarios.flatMap((scenario) => Array.from({ length: repeat }, (_, at) => ({ scenario, at })));
  return pairs.map(({ scenario, at }, position): ConversationCase => {
    const detail = { ...shared, scenario, specification: snapshot.hash };
    const identity = JSON.stringify(
      canonical({ detail: detail as unknown as Json, checks: checks as unknown as Json, repeat: at }),
    );
    return {
      kind: 'conversation',
      index: caseIndex(firstIndex + position),
      key: caseKey(count(hash('sha256', identity, 'hex').slice(0, 32))),
      name: scenario.name,
      column: { position: column, provider: batch.models.agent.provider, prompt: snapshot.specification.name },
      repeat: at,
      ...(scenario.tags === undefined ? {} : { tags: scenario.tags }),
      checks: [...checks, ...(scenario.checks ?? [])],
      expectedCalls: Math.max(1, Math.round(expectedCalls?.get(scenario.name) ?? expectedOf(batch, scenario))),
      detail: detail as unknown as Json,
    };
  });
}

const expectedOf = (batch: ConversationBatch, scenario: Scenario): number =>
  2 * (scenario.expected_turns ?? batch.maxTurns ?? scenario.max_turns ?? batch.batch?.maxTurns ?? defaultMaxTurns);

/** Longest first: what is expected to take most calls is admitted before the rest; equal ones in plan order. */
export const inOrderOfWork = (cases: readonly ConversationCase[]): ConversationCase[] =>
  cases.toSorted((a, b) => (b.expectedCalls ?? 1) - (a.expectedCalls ?? 1) || a.index - b.index);

/** The specifications as a run's snapshot keeps them: as text, since the order of keys reaches models and must not change. */
export const specificationsJson = (snapshots: Iterable<SpecificationSnapshot>): JsonObject =>
  Object.fromEntries(
    [...snapshots].map(({ hash: key, specification, folder }) => [
      key,
      { text: JSON.stringify(specification), folder },
    ]),
  );

/** The specifications of a run's snapshot, by hash; a fork's snapshot holds its parent's and its own changes. */
export function specificationsOf(snapshot: Json): Map<string, SpecificationSnapshot> {
  const { specifications, parent, note } = Object(snapshot) as { specifications?: Json; parent?: Json; note?: Json };
  const inherited = [parent, note].flatMap((part) =>
    part === undefined || part === null ? [] : [...specificationsOf(part)],
  );
  const own = Object.entries((specifications ?? {}) as unknown as Record<string, KeptSpecification>).map(
    ([key, { text, folder }]): [string, SpecificationSnapshot] => [
      key,
      { hash: key, specification: JSON.parse(text) as Specification, folder },
    ],
  );
  return new Map([...inherited, ...own]);
}

interface KeptSpecification {
  readonly text: string;
  readonly folder: string;
}
