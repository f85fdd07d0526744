import type { Json } from '../domain/json.ts';
import { unsafeIn } from './parse-arguments.ts';

/** Longest result text that is kept. */
export const longestResult = 1024 * 1024;

/** A tool's answer as data: parsed when it is JSON, else the text itself. Always returns something. */
export function parseToolResult(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return unsafeIn(value, 0) === undefined ? value : text;
  } catch {
    return text;
  }
}

export type ResultText = { readonly text: string } | { readonly fault: string };

/** Whatever a tool gave back, as text, or why it cannot be. Functions, bytes, cycles and nothing at all are faults. */
export function resultText(value: unknown): ResultText {
  if (value === undefined) return { fault: 'it returned nothing' };
  if (typeof value === 'string') return bounded(value);
  if (isBytes(value)) return { fault: 'it returned bytes instead of text or JSON' };
  try {
    const text = JSON.stringify(value);
    return text === undefined ? { fault: `it returned a ${typeof value}` } : bounded(text);
  } catch (error) {
    return { fault: `its answer cannot be written as JSON (${firstLine(error)})` };
  }
}

/** Bytes, also in the form that Node gives a Buffer on its way through JSON. */
const isBytes = (value: unknown): boolean =>
  ArrayBuffer.isView(value) ||
  value instanceof ArrayBuffer ||
  (typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value &&
    Array.isArray(value.data));

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

function bounded(text: string): ResultText {
  if (text.length > longestResult)
    return { fault: `its answer is ${text.length} characters long, more than ${longestResult}` };
  return { text: text.toWellFormed() };
}

/** The contract's form of a tool that failed. */
export const toolError = (message: string): { readonly error: string } => ({
  error: `Tool execution failed: ${message}`,
});
