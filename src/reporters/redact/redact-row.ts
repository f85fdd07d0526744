import { isObject, type Json } from '../../domain/json.ts';
import type { Row } from '../../domain/row.ts';

/**
 * What must not leave the house. Secrets never reach a row in the first place (they are resolved at the socket); this is
 * the second lock, for what a model or a tool repeated, and for people who share reports.
 */
export interface RedactOptions {
  /** Known secret values, such as the keys of this environment; each of their occurrences goes. */
  readonly secrets?: readonly string[];
  /** Leaves out everything people and models wrote; names, verdicts and numbers stay. */
  readonly contents?: boolean;
}

const mark = '[redacted]';
/** Shorter values would redact ordinary words. */
const shortestSecret = 6;
/** Keys that tell themselves by their shape: vendors' prefixes, bearer tokens, private key blocks. */
const keyShapes =
  /\b(?:sk|rk|pk)-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[opsu]_[A-Za-z0-9]{36,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAIza[A-Za-z0-9_-]{35}|\bBearer [A-Za-z0-9._~+/-]{16,}=*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** As it stands, and as it may stand inside JSON or a URL. */
const forms = (secret: string): string[] => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];

/** A function that takes every known secret, and everything shaped like a key, out of a text. */
export function redactText(secrets: readonly string[] = []): (text: string) => string {
  const known = [...new Set(secrets.filter((secret) => secret.length >= shortestSecret).flatMap(forms))];
  known.sort((a, b) => b.length - a.length);
  const exact = known.length === 0 ? undefined : new RegExp(known.map(literal).join('|'), 'g');
  return (text) => (exact === undefined ? text : text.replace(exact, mark)).replace(keyShapes, mark);
}

/** The same over plain data, keys of objects included. */
export function redactJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => redactJson(each, redact));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [redact(key), redactJson(each, redact)]));
}

/** A text's length in its place. */
export function withoutContents(text: string): string {
  return text === '' ? '' : `[left out, ${text.length} characters]`;
}

/** Texts under these names are structure and stay; every other text was written by somebody and goes. */
const structure = new Set(
  (
    'speaker role status termination_reason type name id code metric scenario session_id error_type ' +
    'timestamp start_time end_time started_at evaluation_status'
  ).split(' '),
);
/** What stands below these was made by people, models and tools to its last key and number: only its size is told. */
const data = new Set(['output', 'prompt', 'raw', 'final_state', 'value', 'config', 'arguments']);
/** Lists and maps of such data, of which the places and the names of variables stay. */
const dataByName = new Set(['vars', 'variables', 'tool_results', 'client_tool_results']);
/** Everything below these is content, whatever its fields are called; numbers in it are Parlane's or a provider's. */
const contents = new Set(['response', 'metadata']);

const sizeOnly = (value: Json): Json =>
  value === null ? null : withoutContents(typeof value === 'string' ? value : JSON.stringify(value));

function leaveOutEach(value: Json): Json {
  if (Array.isArray(value)) return value.map(sizeOnly);
  if (!isObject(value)) return sizeOnly(value);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sizeOnly(each)]));
}

function leaveOut(value: Json, field: string, inContent: boolean): Json {
  if (data.has(field)) return sizeOnly(value);
  if (dataByName.has(field)) return leaveOutEach(value);
  if (typeof value === 'string') return !inContent && structure.has(field) ? value : withoutContents(value);
  if (Array.isArray(value)) return value.map((each) => leaveOut(each, field, inContent));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, leaveOut(each, key, inContent || contents.has(key))]),
  );
}

/** What `--redact` does to each row of an export. */
export function rowRedactor(options: RedactOptions): (row: Row) => Row {
  const redact = redactText(options.secrets);
  return (row) => {
    const { output, detail, verdict, error, ...rest } = row;
    const parts = {
      output,
      ...(detail === undefined ? {} : { detail }),
      ...(verdict === undefined ? {} : { verdict }),
      ...(error === undefined ? {} : { error }),
    };
    // Verdicts and errors are plain data, as everything in a row: they are stored as JSON.
    const plain = parts as unknown as Json;
    const kept = options.contents === true ? leaveOut(plain, '', false) : plain;
    return { ...rest, name: redact(row.name), ...(redactJson(kept, redact) as unknown as typeof parts) };
  };
}
