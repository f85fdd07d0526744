import { parse as parseYaml } from 'yaml';
import type { Json } from '../domain/json.ts';

export type ChatPrompt =
  | { readonly ok: true; readonly messages: Json | undefined; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/**
 * A prompt as its author wrote it: the vendor's own messages as JSON (or as a YAML list of roles), or plain text, then
 * `messages` is undefined. Text that clearly meant to be JSON and is not is an error, not a prompt.
 */
export function readChatPrompt(prompt: string): ChatPrompt {
  const trimmed = prompt.trim();
  if (trimmed.startsWith('- role:')) {
    try {
      return { ok: true, messages: parseYaml(prompt) as Json, text: prompt };
    } catch (error) {
      return { ok: false, reason: `the prompt is not valid YAML: ${reasonOf(error)}` };
    }
  }
  if (!/^[[{]/.test(trimmed)) return { ok: true, messages: undefined, text: prompt };
  try {
    return { ok: true, messages: JSON.parse(trimmed) as Json, text: prompt };
  } catch (error) {
    if (looksLikeJson(trimmed)) return { ok: false, reason: `the prompt is not valid JSON: ${reasonOf(error)}` };
    return { ok: true, messages: undefined, text: prompt };
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unreadable');

/** `{...}` always; `[...]` only when what follows the bracket can start a JSON value, so `[INST]` stays text. */
function looksLikeJson(trimmed: string): boolean {
  if (trimmed.startsWith('{')) return trimmed.endsWith('}');
  if (!trimmed.endsWith(']')) return false;
  const inside = trimmed.slice(1).trimStart();
  return inside === ']' ? false : /^(?:["{[\d-]|true|false|null)/.test(inside) || inside.length === 0;
}
