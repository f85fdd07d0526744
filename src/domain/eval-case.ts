import type { PromptCase } from './case.ts';
import type { Json, JsonObject } from './json.ts';
import type { PromptCode, SuiteTest } from './suite.ts';

/** What the evaluator needs to know about a case beyond its text: `PromptCase.detail` of every eval. */
export interface EvalDetail {
  /** Row and column of the table. */
  readonly testIdx: number;
  readonly promptIdx: number;
  /** SHA-256 of the prompt's label (else id, else text). */
  readonly promptId: string;
  readonly provider: { readonly id: string; readonly label?: string; readonly transform?: string };
  readonly prompt: {
    readonly label: string;
    readonly id?: string;
    /** The prompt without this test's prefix and suffix. */
    readonly template: string;
    readonly config?: JsonObject;
    readonly code?: PromptCode;
  };
  /** The test after defaults, scenario and expansion, its vars included. */
  readonly test: SuiteTest;
  /** How often this test is repeated; above 1 every repeat is a call of its own. */
  readonly repeats: number;
  /** For models that take one. */
  readonly seed?: number;
  /** `_conversation` is filled in. */
  readonly usesConversation: boolean;
}

/** The case's detail, as the planner wrote it. */
export const evalDetail = (planned: PromptCase): EvalDetail => planned.detail as unknown as EvalDetail;

/** A detail as plain data for the case; it is only ever read back by `evalDetail`. */
export const detailJson = (detail: EvalDetail): Json => detail as unknown as Json;
