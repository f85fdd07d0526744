import { mcnemarExact } from './exact-tests.ts';

/** What it would take to know. */
export interface RepeatAdvice {
  /** `--repeat` that tells a difference of this size from chance four times in five. */
  readonly repeat: number;
  readonly costUsdMicros: number | null;
  readonly durationMs: number | undefined;
}

const wanted = 0.8;
const mostRepeats = 50;

function chanceToTell(changed: number, share: number): number {
  let chance = 0;
  let term = Math.log1p(-share) * changed;
  for (let better = 0; better <= changed; better++) {
    if (mcnemarExact(better, changed - better) <= 0.05) chance += Math.exp(term);
    term += Math.log((changed - better) / (better + 1)) + Math.log(share) - Math.log1p(-share);
  }
  return chance;
}

/** The smallest number of changed cases with which the exact test would see this share of better ones. */
function changedNeeded(share: number, most: number): number | undefined {
  for (let changed = 6; changed <= most; changed += changed < 60 ? 1 : Math.ceil(changed / 20)) {
    if (chanceToTell(changed, share) >= wanted) return changed;
  }
  return undefined;
}

/**
 * How many repeats would settle it, if the share of better among the changed stays what it seems to be. Shrunk a little
 * toward a half, because few changed cases flatter. Undefined: nothing to settle, or not within 50 repeats.
 */
export function repeatsToSettle(better: number, worse: number, triesPerCase: number): number | undefined {
  const changed = better + worse;
  if (changed === 0 || better === worse) return undefined;
  const share = (Math.max(better, worse) + 0.5) / (changed + 1);
  const perRepeat = changed / triesPerCase;
  const needed = changedNeeded(share, Math.ceil(perRepeat * mostRepeats));
  if (needed === undefined) return undefined;
  return Math.max(Math.ceil(triesPerCase) + 1, Math.ceil(needed / perRepeat));
}
