/**
 * A suite as its run remembers it: everything but the tests, which are the run's own cases, and without secrets. What
 * comes back from it plays the recorded cases as they were meant, whatever has become of the files since.
 */
import type { Json, JsonObject } from '../domain/json.ts';
import type { Suite } from '../domain/suite.ts';
import { canonical } from '../plan/case-key.ts';

const noTests: Suite['tests'] = { count: 0, read: async function* () {} };

export function suiteJson(suite: Suite): JsonObject {
  const { tests: _tests, scenarios: _scenarios, conversations: _conversations, ...rest } = suite;
  return canonical(rest as unknown as Json) as JsonObject;
}

export const suiteOf = (json: Json): Suite => ({ ...(json as unknown as Suite), tests: noTests, conversations: [] });

/** What was run at first: a fork's snapshot holds its parent's. */
export function rootOf(snapshot: Json): Json {
  const { kind, parent } = Object(snapshot) as { kind?: Json; parent?: Json };
  return typeof kind === 'string' || parent === undefined ? snapshot : rootOf(parent);
}
