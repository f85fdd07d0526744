import type { Assertion } from '../domain/verdict.ts';
import { didYouMean } from '../prompts/nearest-name.ts';
import { assertionTable, baseTypeOf, factsOf, leftOut } from './assertion-table.ts';

/** One thing wrong with an assertion, known before anything runs. */
export interface AssertionProblem {
  /** Where in the list, sets included: `[0]`, `[2, 1]`. */
  readonly at: readonly number[];
  readonly type: string;
  /** `unknown-type`: its rows are errors and no call is paid for them. `bad-value`: the check will be an error. */
  readonly kind: 'unknown-type' | 'bad-value';
  readonly message: string;
  readonly hint?: string;
}

const names = (): string[] => [...assertionTable.keys(), 'assert-set'];

function typeProblem(type: string): { message: string; hint?: string } | undefined {
  const base = baseTypeOf(type);
  const facts = factsOf(type);
  // What compares rows, or waits for a person, has no opposite.
  const isTurned = type !== base && facts?.group === 'rows';
  if (type === 'assert-set' || (facts !== undefined && !isTurned)) return undefined;
  const instead = leftOut.get(base);
  if (instead !== undefined) return { message: `assertion type "${type}" is not supported`, hint: instead };
  if (base.startsWith('promptfoo:redteam:')) {
    return { message: `assertion type "${type}" is not supported`, hint: 'red teaming is not part of Parlane' };
  }
  const prefix = type.startsWith('not-') ? 'not-' : '';
  const hint = didYouMean(base, names())?.replace('"', `"${prefix}`);
  return { message: `unknown assertion type "${type}"`, ...(hint === undefined ? {} : { hint }) };
}

function valueProblem(assertion: Assertion): string | undefined {
  const facts = factsOf(assertion.type);
  if (facts === undefined) return undefined;
  const { value, threshold } = assertion;
  const hasValue = value !== undefined && value !== null && value !== '';
  if (facts.value === 'required' && !hasValue) return `"${assertion.type}" needs a value`;
  if (facts.threshold === 'required' && typeof threshold !== 'number') return `"${assertion.type}" needs a threshold`;
  return undefined;
}

function problemsAt(assertion: Assertion, at: readonly number[]): AssertionProblem[] {
  const type = typeof assertion?.type === 'string' ? assertion.type : '';
  if (type === '') return [{ at, type, kind: 'unknown-type', message: 'an assertion needs a type' }];
  if (type === 'assert-set') {
    if (!Array.isArray(assertion.assert)) {
      return [{ at, type, kind: 'bad-value', message: '"assert-set" needs a list "assert"' }];
    }
    return assertion.assert.flatMap((inner: Assertion, position: number) => problemsAt(inner, [...at, position]));
  }
  const unknown = typeProblem(type);
  if (unknown !== undefined) return [{ at, type, kind: 'unknown-type', ...unknown }];
  const value = valueProblem(assertion);
  return value === undefined ? [] : [{ at, type, kind: 'bad-value', message: value }];
}

/** Everything wrong with a list of assertions that can be told without running them. Costs nothing. */
export const checkAssertions = (assertions: readonly Assertion[]): AssertionProblem[] =>
  assertions.flatMap((assertion, position) => problemsAt(assertion, [position]));

/** The sentence for a row whose assertions contain an unknown type; undefined when there is none. */
export function unknownTypeError(assertions: readonly Assertion[]): string | undefined {
  const problem = checkAssertions(assertions).find(({ kind }) => kind === 'unknown-type');
  if (problem === undefined) return undefined;
  return `${problem.message.charAt(0).toUpperCase()}${problem.message.slice(1)}${problem.hint === undefined ? '' : ` (${problem.hint})`}`;
}
