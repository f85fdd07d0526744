/** Names that are easily mixed up carry a brand; plain text becomes one of them only at the border, by these functions. */
declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** One execution of a plan. */
export type RunId = Brand<string, 'RunId'>;
/** A real rate-limit scope, made by a provider adapter. Not a label. */
export type LaneKey = Brand<string, 'LaneKey'>;
/** Content identity of a case: the same across runs. */
export type CaseKey = Brand<string, 'CaseKey'>;
/** A case's stable position in its plan, also on resume. */
export type CaseIndex = Brand<number, 'CaseIndex'>;

export const runId = (text: string): RunId => text as RunId;
export const laneKey = (text: string): LaneKey => text as LaneKey;
export const caseKey = (text: string): CaseKey => text as CaseKey;
export const caseIndex = (position: number): CaseIndex => position as CaseIndex;

/** Units, spelled out where a number has one. */
export type Millis = number;
export type EpochMillis = number;
export type Tokens = number;
export type UsdMicros = number;

/** What people see and type for a case: from 1, `show 1` is the plan's first case. */
export const caseNumber = (index: CaseIndex): number => index + 1;
export const caseIndexOf = (number: number): CaseIndex => (number - 1) as CaseIndex;
