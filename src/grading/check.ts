import type { CodeRunner } from '../domain/code-runner.ts';
import type { Effects } from '../domain/effects.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import type { FilePort } from '../prompts/files.ts';
import type { Grader } from './graders/grader.ts';
import type { SchemaValidator } from './json-schema.ts';
import type { Subject } from './subject.ts';

/** What grading may do to the world beside model calls; all of it comes from outside. */
export interface GradingPorts {
  /** Puts values into a config author's template. */
  readonly render: (template: string, values: JsonObject) => string | Promise<string>;
  readonly files: Pick<FilePort, 'read'>;
  readonly code: CodeRunner;
  /** One per run: compiled schemas are kept in it. */
  readonly schemas: SchemaValidator;
  /** Posts JSON; rejects when nothing came back within the time. */
  readonly post: (
    url: string,
    body: Json,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ) => Promise<{ readonly status: number; readonly text: string }>;
}

/** What a config says about grading beside the provider. */
export interface RubricOptions {
  /** Replaces our own grading prompt. */
  readonly rubricPrompt?: Json;
  /** Scores per category of `factuality`. */
  readonly factuality?: JsonObject;
}

/** Everything one check gets to see. */
export interface CheckInput {
  readonly assertion: Assertion;
  /** The type without `not-`. */
  readonly type: string;
  readonly inverse: boolean;
  readonly subject: Subject;
  /** After the assertion's own transform. */
  readonly output: Json;
  /** The output as text: itself, or as JSON; for a conversation the words of the speakers that are checked. */
  readonly text: string;
  /** The assertion's value after templates and files; for code assertions the code. */
  readonly value: Json | undefined;
  /** What a `file://` script gave; only code assertions get to see it. */
  readonly scripted?: { readonly value: unknown };
  readonly effects: Effects;
  readonly ports: GradingPorts;
  readonly grader: Grader;
  readonly rubric: RubricOptions;
  /** Folder against which `file://` is resolved. */
  readonly baseDir: string;
}

export type CheckOutcome = Verdict;
export type Check = (input: CheckInput) => CheckOutcome | Promise<CheckOutcome>;

/** Thrown by a check that cannot be made: a missing value, an unknown price, no trace. Becomes `Verdict.error`. */
export class CheckProblem extends Error {}

/** Ends the check with a problem unless the condition holds. */
export function demand(condition: unknown, problem: string): asserts condition {
  if (!condition) throw new CheckProblem(problem);
}

/** A yes-or-no verdict; `not-` has been counted in already. */
export const verdict = (pass: boolean, reason: string): CheckOutcome => ({
  pass,
  score: pass ? 1 : 0,
  reason: pass ? 'Assertion passed' : reason,
});

/** A verdict that tells its reason either way. */
export const explained = (pass: boolean, reason: string): CheckOutcome => ({ pass, score: pass ? 1 : 0, reason });

/** The check could not be made; this says nothing about the answer. */
export const broken = (error: string): CheckOutcome => ({ pass: false, score: 0, reason: error, error });

export const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** JSON when it is JSON, else the text itself. */
export function parsedOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
