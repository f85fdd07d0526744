import type { Assertion } from '../domain/verdict.ts';
import { didYouMean } from '../prompts/nearest-name.ts';
import { assertionTable, baseTypeOf, factsOf, leftOut } from './assertion-table.ts';
import { codeFault, isCodeText, patternFault, transformFault } from './check-code.ts';

/** One thing wrong with an assertion, known before anything runs. */
export interface AssertionProblem {
  /** Where in the list, sets included: `[0]`, `[2, 1]`. */
  readonly at: readonly number[];
  readonly type: string;
  /** `unknown-type`: its rows are errors and no call is paid for them. `bad-value`: the check will be an error. */
  readonly kind: 'unknown-type' | 'bad-value';
  /** The key of the assertion that is wrong, when it is one. */
  readonly part?: 'value' | 'threshold' | 'transform';
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

type Wrong = Required<Pick<AssertionProblem, 'part' | 'message'>>;

function valueProblems(assertion: Assertion): Wrong[] {
  const { type, value, threshold, transform } = assertion;
  const facts = factsOf(type);
  if (facts === undefined) return [];
  const wrong: Wrong[] = [];
  const hasValue = value !== undefined && value !== null && value !== '';
  if (facts.value === 'required' && !hasValue) wrong.push({ part: 'value', message: `"${type}" needs a value` });
  if (facts.threshold === 'required' && typeof threshold !== 'number')
    wrong.push({ part: 'threshold', message: `"${type}" needs a threshold` });
  const written = writtenFault(baseTypeOf(type), value);
  if (written !== undefined) wrong.push({ part: 'value', message: written });
  const fault = isCodeText(transform) ? transformFault(transform) : undefined;
  if (fault !== undefined)
    wrong.push({ part: 'transform', message: `the transform is not valid JavaScript: ${fault}` });
  return wrong;
}

function writtenFault(base: string, value: Assertion['value']): string | undefined {
  if (!isCodeText(value)) return undefined;
  const pattern = base === 'regex' ? patternFault(value) : undefined;
  const code = base === 'javascript' ? codeFault(value) : undefined;
  if (pattern !== undefined) return `not a regular expression: ${pattern}`;
  return code === undefined ? undefined : `not valid JavaScript: ${code}`;
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
  return valueProblems(assertion).map((wrong) => ({ at, type, kind: 'bad-value', ...wrong }));
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
