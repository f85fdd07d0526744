/**
 * The grammars of limit hints. Strict on purpose: `Date.parse('1.5')` and `Date.parse('-1')` are valid dates, and a hint
 * that was misread holds a lane for years or lets it run into a wall. What fits no grammar is no hint.
 */
import type { EpochMillis, Millis } from '../domain/ids.ts';

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const duration = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h|d))+$/;
const durationPart = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g;
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** `6m0s`, `12ms`, `1m30s`, `0s`. */
export function parseDuration(text: string): Millis | undefined {
  if (!duration.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(durationPart)) total += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  return Math.ceil(total);
}

/** `Wed, 21 Oct 2026 07:28:00 GMT`. */
export function parseHttpDate(text: string): EpochMillis | undefined {
  if (!httpDate.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** `2026-10-21T07:28:00Z`. */
function parseIsoTime(text: string): EpochMillis | undefined {
  if (!isoTime.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** A count; `-1` means "not said". */
export const parseCount = (text: string): number | undefined =>
  /^\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : undefined;

const until = (at: EpochMillis | undefined, now: EpochMillis): Millis | undefined =>
  at === undefined ? undefined : Math.max(0, at - now);

/** A reset in any of the vendors' spellings: duration, seconds, epoch seconds or milliseconds, ISO time, HTTP date. */
export function parseReset(text: string, now: EpochMillis): Millis | undefined {
  const spoken = parseDuration(text);
  if (spoken !== undefined) return spoken;
  const count = parseCount(text);
  if (count === undefined) return until(parseIsoTime(text) ?? parseHttpDate(text), now);
  if (count >= 1e12) return until(count, now);
  return count >= 1e9 ? until(count * 1000, now) : Math.ceil(count * 1000);
}

/** `retry-after`: whole seconds or an HTTP date, nothing else. */
export function parseRetryAfter(text: string, now: EpochMillis): Millis | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) * 1000 : until(parseHttpDate(text), now);
}

/** `retry-after-ms`: whole milliseconds. */
export const parseRetryAfterMs = (text: string): Millis | undefined =>
  /^\d{1,13}$/.test(text) ? Number(text) : undefined;
