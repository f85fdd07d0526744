/** Who plays a case: the ports between a run and the rooms that know prompts, conversations and checks. */
import type { Case, ConversationCase, PromptCase } from '../domain/case.ts';
import type { Effects } from '../domain/effects.ts';
import { assertNever } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { CaseWrites } from '../store/store.ts';

/** What a case may use beside its own data. */
export interface CaseContext {
  readonly effects: Effects;
  /** Outputs that earlier cases of the same column have stored. */
  readonly registers: JsonObject;
  /** Earlier exchanges under the same conversation key. */
  readonly conversation: readonly Json[];
  /** Tells people how far it is. */
  progress(note: string): void;
}

/** How a case ended, before the run adds what it measured. */
export interface CaseResult
  extends Pick<Row, 'status' | 'score' | 'output'>,
    Partial<Pick<Row, 'verdict' | 'error' | 'detail'>> {
  /** What it leaves to later cases. */
  readonly writes?: CaseWrites;
}

/** A row with the case it is of. */
export interface CasedRow {
  readonly case: PromptCase;
  readonly row: Row;
}

export interface CaseRunners {
  prompt(one: PromptCase, context: CaseContext): Promise<CaseResult>;
  conversation(one: ConversationCase, context: CaseContext): Promise<CaseResult>;
  /** What the rows of one test become once their answers are compared; absent: nothing is compared. */
  compare?(rows: readonly CasedRow[], effects: Effects): Promise<readonly Row[]>;
}

export const playCase = (runners: CaseRunners, one: Case, context: CaseContext): Promise<CaseResult> => {
  switch (one.kind) {
    case 'prompt':
      return runners.prompt(one, context);
    case 'conversation':
      return runners.conversation(one, context);
    default:
      return assertNever(one);
  }
};
