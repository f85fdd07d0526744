import type { CaseIndex, CaseKey } from './ids.ts';
import type { Json } from './json.ts';
import type { Assertion } from './verdict.ts';

/** Provider x prompt: a column of an eval's table. */
export interface Column {
  readonly position: number;
  /** Provider id or label, as the run resolves it. */
  readonly provider: string;
  /** Prompt label, or a specification's name for conversations. */
  readonly prompt: string;
}

interface CaseCommon {
  readonly index: CaseIndex;
  /** Content identity, with `#n` among equals. */
  readonly key: CaseKey;
  /** What a person calls it. */
  readonly name: string;
  readonly column: Column;
  /** Which repeat of the same case this is, from 0. */
  readonly repeat: number;
  /** Runs in the serial phase, before everything else, one by one. */
  readonly serial?: boolean;
  readonly tags?: readonly string[];
  readonly checks: readonly Assertion[];
  readonly threshold?: number;
  /** How many calls it is expected to make; orders admission. */
  readonly expectedCalls?: number;
}

/** One row to be: a prompt sent once and graded. */
export interface PromptCase extends CaseCommon {
  readonly kind: 'prompt';
  /** The text before values are put in; `vars` are put in when the case starts, registers and history included. */
  readonly prompt: string;
  readonly vars: { readonly [name: string]: Json };
  /** Cases with the same conversation key see each other's earlier exchanges as `_conversation`. */
  readonly conversationKey?: string;
  /** Keeps the output under this name for later cases of the same column. */
  readonly storeAs?: string;
  /**
   * The cases of the same test, itself included, when their answers are compared with each other: its row is final only
   * together with theirs.
   */
  readonly comparedWith?: readonly CaseIndex[];
  /** Everything else the evaluator needs to know about it (transforms, options, metadata). */
  readonly detail?: Json;
}

/** One row to be: a conversation played to its end and graded. */
export interface ConversationCase extends CaseCommon {
  readonly kind: 'conversation';
  /** The scenario, the specification snapshot's hash, models and limits, as plain data. */
  readonly detail: Json;
}

export type Case = PromptCase | ConversationCase;
