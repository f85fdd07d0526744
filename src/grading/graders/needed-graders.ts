import type { Json } from '../../domain/json.ts';
import type { Assertion } from '../../domain/verdict.ts';
import { factsOf, type Need } from '../assertion-table.ts';
import { CheckProblem } from '../check.ts';
import { type GraderKind, resolveGrader } from './grader-provider.ts';

/** A model that an assertion will ask. */
export interface NeededGrader {
  readonly kind: GraderKind;
  /** Absent when the config names nobody: then the default of its kind grades. */
  readonly name?: string;
  readonly assertion: Assertion;
}

const kinds: Partial<Readonly<Record<Need, GraderKind>>> = {
  'text-model': 'text',
  'embedding-model': 'embedding',
  'moderation-model': 'moderation',
  'classification-model': 'classification',
};

/** The graders that a list of assertions needs, sets included. `provider` is the test's own choice. */
export function neededGraders(assertions: readonly Assertion[], provider: Json | undefined): NeededGrader[] {
  return assertions.flatMap((assertion): NeededGrader[] => {
    if (assertion?.type === 'assert-set')
      return Array.isArray(assertion.assert) ? neededGraders(assertion.assert, provider) : [];
    const needs = typeof assertion?.type === 'string' ? (factsOf(assertion.type)?.needs ?? []) : [];
    return needs.flatMap((need) => {
      const kind = kinds[need];
      return kind === undefined ? [] : [{ kind, assertion, ...named(kind, [assertion.provider, provider]) }];
    });
  });
}

function named(kind: GraderKind, candidates: readonly (Json | undefined)[]): { readonly name?: string } {
  try {
    return { name: resolveGrader(kind, candidates, {}) };
  } catch (error) {
    if (error instanceof CheckProblem) return {};
    throw error;
  }
}
