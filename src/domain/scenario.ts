import type { Json, JsonObject } from './json.ts';
import type { Assertion } from './verdict.ts';

/** What a simulated client wants, as files hold it. */
export interface Scenario {
  readonly name: string;
  readonly variables: JsonObject;
  readonly tags?: readonly string[];
  readonly max_turns?: number;
  readonly timeout_sec?: number;
  /** Literal client lines, templates, and stretches that the client model plays. */
  readonly script?: readonly ScriptLine[];
  readonly checks?: readonly Assertion[];
  readonly expected_turns?: number;
  readonly [key: string]: Json | readonly ScriptLine[] | readonly Assertion[] | undefined;
}

export type ScriptLine = string | { readonly say: string } | { readonly model: number };
