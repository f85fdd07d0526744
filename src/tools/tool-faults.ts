import { createHash } from 'node:crypto';
import type { Millis } from '../domain/ids.ts';
import type { ToolFaults } from '../prompts/specification.ts';

/** What a tool with faults on demand does this time. Drawn from the seed, so that a resumed session meets the same luck. */
export interface FaultDraw {
  readonly delayMs: Millis;
  readonly error: boolean;
  readonly malformed: boolean;
}

export function drawFaults(faults: ToolFaults, seed: string): FaultDraw {
  const error = share(`${seed}|error`) < (faults.errorRate ?? 0);
  return {
    delayMs: faults.delayMs ?? 0,
    error,
    malformed: !error && share(`${seed}|malformed`) < (faults.malformedRate ?? 0),
  };
}

/** A number from 0 to 1 that depends on the text alone. */
const share = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;

/** The answer as a broken tool would give it: cut off in the middle. */
export const malformedText = (text: string): string => `${text.slice(0, Math.ceil(text.length / 2))}\u2026{"`;
