import type { Millis } from './ids.ts';
import type { Json } from './json.ts';

/**
 * Code that a config author wrote. `inline` is the body of a function whose parameters are `parameters` in order (it
 * says `return` itself); `file` is a module or script with a function in it.
 */
export type UserCode =
  | {
      readonly kind: 'inline';
      readonly language: 'javascript' | 'python' | 'ruby';
      readonly body: string;
      readonly parameters: readonly string[];
    }
  | {
      readonly kind: 'file';
      readonly language: 'javascript' | 'python' | 'ruby';
      /** Absolute. */
      readonly path: string;
      /** Which function, a dotted name walks into what is exported; absent: the default export, or the module itself. */
      readonly functionName?: string;
    };

export interface CodeCall {
  readonly code: UserCode;
  /** Plain data; the other side gets copies. */
  readonly args: readonly Json[];
  /**
   * `call` (default) wants a function. `read`, for JavaScript files, takes whatever the file exports and calls it when it
   * is a function; functions inside the value come back as `file://<path>:<dotted name>`, callable by that name.
   */
  readonly mode?: 'call' | 'read';
  /** Killed after this long of its own working time; absent: the runner's own limit. */
  readonly timeoutMs?: Millis;
}

/**
 * What came of it. A returned promise has been awaited. `value` is a structured copy, so NaN and undefined arrive as
 * they are; whoever asked must look at it as data from a stranger.
 */
export type CodeOutcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  /** The code itself threw, or could not be parsed or loaded. */
  | { readonly kind: 'threw'; readonly message: string; readonly stack?: string }
  /** It ran past its time, ended the process, ate the memory, returned what cannot be copied, or has no interpreter. */
  | {
      readonly kind: 'broke';
      readonly cause: 'timeout' | 'exit' | 'memory' | 'uncloneable' | 'no-interpreter' | 'aborted';
      readonly message: string;
    };

/** Runs user code outside this process, so that whatever it does is the fate of its own call only. */
export interface CodeRunner {
  /** Never rejects: everything that can happen is an outcome. */
  run(call: CodeCall, options: { readonly signal: AbortSignal }): Promise<CodeOutcome>;
}
