import type { JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';

/** A test (or the default test, or a part of a scenario) as it stands in a file, and how to point at a part of it. */
export interface WrittenTest {
  readonly test: JsonObject;
  /** A problem at a part of the test, or at the nearest part around it that has a place. */
  at(path: readonly PropertyKey[], message: string, hint?: string): Problem;
}
