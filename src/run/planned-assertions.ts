/** Which assertions a plan will check: one of each kind, so that what they need is known before anything is sent. */
import type { PromptCase } from '../domain/case.ts';
import { evalDetail } from '../domain/eval-case.ts';
import type { Json } from '../domain/json.ts';
import type { Assertion } from '../domain/verdict.ts';
import { type NeededGrader, neededGraders } from '../grading/graders/needed-graders.ts';

export interface PlannedAssertion {
  readonly assertion: Assertion;
  /** Whom the test names for grading. */
  readonly provider?: Json;
}

/** Collects assertions; those of equal type with equal graders are one. */
export class AssertionSurvey {
  readonly #found = new Map<string, PlannedAssertion>();

  note(assertions: readonly Assertion[], provider: Json | undefined): void {
    for (const assertion of assertions) {
      if (assertion?.type === 'assert-set' && Array.isArray(assertion.assert)) {
        this.note(assertion.assert as readonly Assertion[], provider);
        continue;
      }
      const key = JSON.stringify([assertion?.type, assertion?.provider, provider]);
      if (!this.#found.has(key)) this.#found.set(key, { assertion, ...(provider === undefined ? {} : { provider }) });
    }
  }

  noteCase(one: PromptCase): void {
    this.note(one.checks, evalDetail(one).test.options?.['provider']);
  }

  list(): readonly PlannedAssertion[] {
    return [...this.#found.values()];
  }
}

/** The graders that a plan needs. */
export const gradersOf = (planned: readonly PlannedAssertion[]): NeededGrader[] =>
  planned.flatMap(({ assertion, provider }) => neededGraders([assertion], provider));

/** The graders that one case needs. A comparison between rows is asked about once, with the first of them. */
export function gradersOfCase(one: PromptCase): NeededGrader[] {
  const first = one.comparedWith === undefined || one.comparedWith[0] === one.index;
  const checks = first ? one.checks : one.checks.filter(({ type }) => type !== 'select-best');
  return neededGraders(checks, evalDetail(one).test.options?.['provider']);
}
