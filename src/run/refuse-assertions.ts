/**
 * Assertions that a plan could not check, told before anything is sent: graders that cannot be asked, types that nobody
 * knows. A run is not paid for whose answers nobody could grade.
 */
import { ParlaneError } from '../domain/errors.ts';
import type { Provider } from '../domain/provider.ts';
import type { Assertion } from '../domain/verdict.ts';
import { checkAssertions } from '../grading/check-assertions.ts';
import type { DefaultGraders } from '../grading/graders/grader-provider.ts';
import type { NeededGrader } from '../grading/graders/needed-graders.ts';
import { AssertionSurvey, gradersOf, type PlannedAssertion } from './planned-assertions.ts';

export interface AssertionFault {
  readonly assertion: Assertion;
  readonly message: string;
  readonly hint?: string;
  /** It is only a key that is missing, for a grader that the config names. */
  readonly missingKey?: true;
}

const bare = (text: string): string => text.trim().replace(/\.$/, '');

/** Graders that cannot be asked. */
export function graderFaults(
  needed: readonly NeededGrader[],
  defaults: DefaultGraders,
  provider: (name: string) => Provider,
  cure?: string,
): AssertionFault[] {
  return needed.flatMap(({ kind, name, assertion }): AssertionFault[] => {
    const asked = name ?? defaults[kind];
    if (asked === undefined) {
      const message = `"${assertion.type}" needs a ${kind} model, and none is named`;
      return [{ assertion, message, hint: cure ?? 'set "provider" on the assertion, or in defaultTest.options' }];
    }
    try {
      provider(asked);
      return [];
    } catch (error) {
      if (!(error instanceof ParlaneError)) throw error;
      return [name === undefined ? unnamed(assertion, asked, error, cure) : named(assertion, error)];
    }
  });
}

function unnamed(assertion: Assertion, asked: string, error: ParlaneError, cure?: string): AssertionFault {
  const { variable } = error.fields;
  const why = typeof variable === 'string' ? `${variable} is not set` : bare(error.message);
  const message = `"${assertion.type}" names no grader, so ${asked} is asked, and ${why}`;
  const key = typeof variable === 'string' ? `set ${variable}, or ` : '';
  return { assertion, message, hint: `${key}${cure ?? 'name a grader: defaultTest: {options: {provider: ...}}'}` };
}

function named(assertion: Assertion, error: ParlaneError): AssertionFault {
  return {
    assertion,
    message: `the grader of "${assertion.type}" cannot be asked: ${bare(error.what)}`,
    ...(error.cure === '' ? {} : { hint: bare(error.cure) }),
    ...(error.code === 'provider/missing-key' ? { missingKey: true } : {}),
  };
}

/** Assertions of a type that nobody knows. */
export const unknownTypes = (planned: readonly PlannedAssertion[]): AssertionFault[] =>
  planned.flatMap(({ assertion }) =>
    checkAssertions([assertion])
      .filter(({ kind }) => kind === 'unknown-type')
      .map(({ message, hint }) => ({ assertion, message, ...(hint === undefined ? {} : { hint }) })),
  );

const judgeCure =
  'set "provider" on the check, or name a judge: models.judge in a config, --judge-model for a list of scenarios';

/** Checks of conversations that nobody could make: their judge grades when nobody else is named. */
export function conversationFaults(
  conversations: readonly { readonly checks: readonly Assertion[]; readonly judge: string | undefined }[],
  provider: (name: string) => Provider,
): AssertionFault[] {
  return [...Map.groupBy(conversations, ({ judge }) => judge)].flatMap(([judge, group]) => {
    const survey = new AssertionSurvey();
    for (const checks of new Set(group.map((one) => one.checks))) survey.note(checks, undefined);
    const planned = survey.list();
    const defaults = judge === undefined ? {} : { text: judge };
    return [...unknownTypes(planned), ...graderFaults(gradersOf(planned), defaults, provider, judgeCure)];
  });
}

/** Refuses when there are faults. Whoever knows the files tells each at its place. */
export function refuseAssertions(faults: readonly AssertionFault[]): void {
  if (faults.length === 0) return;
  const list = faults.map(({ message, hint }) => (hint === undefined ? message : `${message} (${hint})`)).join('; ');
  const cure = 'Nothing was run, nothing was spent.';
  throw new ParlaneError('assertion/unusable', `Some assertions could not be checked: ${list}.`, cure, { faults });
}
