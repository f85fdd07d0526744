import type { Json } from '../domain/json.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `2h`, or a number of milliseconds; undefined for anything else. */
export function readDuration(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) : null;
  return match === null ? undefined : Number(match[1]) * (units[match[2] ?? ''] ?? 0);
}
