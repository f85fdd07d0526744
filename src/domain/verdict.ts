import type { Json } from './json.ts';
import type { Usage } from './reply.ts';

/** One check as a config author writes it. Keys beyond these belong to the assertion type and are kept. */
export interface Assertion {
  readonly type: string;
  readonly value?: Json;
  readonly threshold?: number;
  readonly weight?: number;
  readonly metric?: string;
  readonly provider?: Json;
  readonly rubricPrompt?: Json;
  readonly transform?: string;
  readonly config?: { readonly [key: string]: Json };
  /** For `assert-set`. */
  readonly assert?: readonly Assertion[];
  readonly [key: string]: Json | readonly Assertion[] | undefined;
}

/** What one check, or all checks of a case together, came to. */
export interface Verdict {
  readonly pass: boolean;
  readonly score: number;
  readonly reason: string;
  /**
   * Set when the check itself could not be made (its grader failed, its code threw, its type is unknown). Such a
   * verdict never counts as a wrong answer of the model.
   */
  readonly error?: string;
  readonly assertion?: Assertion;
  readonly namedScores?: Readonly<Record<string, number>>;
  readonly namedScoreWeights?: Readonly<Record<string, number>>;
  readonly componentResults?: readonly Verdict[];
  readonly usage?: Usage;
  readonly metadata?: { readonly [key: string]: Json };
}
