import type { Json, JsonObject } from './json.ts';

/** A model's wish to call a tool, in OpenAI form; `arguments` is the model's own text, untouched. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A tool as offered to a model, in OpenAI form; adapters translate it for other wires. */
export interface ToolDefinition {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description?: string; readonly parameters?: JsonObject };
}

/** A message in OpenAI form. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string; readonly name?: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly name?: string;
      readonly tool_calls?: readonly ToolCall[];
    }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string; readonly name?: string };

/**
 * One request to a model. Chat takes either a `prompt` as a config author wrote it (text, or the vendor's own message
 * list as JSON, which reaches the wire untouched) or `messages` in OpenAI form, which adapters translate.
 */
export type ModelRequest =
  | {
      readonly kind: 'chat';
      readonly prompt?: string;
      readonly messages?: readonly ChatMessage[];
      readonly tools?: readonly ToolDefinition[];
      /** Vendor parameters; merged over the provider's own config and sent as they are. */
      readonly params?: JsonObject;
      readonly temperature?: number;
      readonly seed?: number;
      readonly maxTokens?: number;
      /** What template-driven and program providers may read: variables and the test they come from. */
      readonly context?: { readonly vars?: JsonObject; readonly test?: Json; readonly [key: string]: Json | undefined };
      /** Repeats of one prompt are different calls: the response cache and coalescing keep them apart. */
      readonly repeatIndex?: number;
    }
  | { readonly kind: 'embedding'; readonly input: string; readonly repeatIndex?: number }
  | {
      readonly kind: 'moderation';
      readonly input: string;
      /** What the input answers; models that judge an exchange see both. */
      readonly prompt?: string;
      readonly repeatIndex?: number;
    }
  /** How alike two texts are, for models that say so themselves; the reply's `output` is the number. */
  | { readonly kind: 'similarity'; readonly expected: string; readonly input: string; readonly repeatIndex?: number }
  | { readonly kind: 'classification'; readonly input: string; readonly repeatIndex?: number };
