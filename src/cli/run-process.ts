import { realClock } from '../platform/clock.ts';
import { isAlive } from '../platform/process-identity.ts';
import type { RunRecord } from '../store/store.ts';

/** A run's process works on it, is gone without having said so, or there is none that anybody knows of. */
export function processOf({ owner }: RunRecord): 'working' | 'gone' | 'none' {
  if (owner === undefined) return 'none';
  return isAlive(owner, realClock.now()) ? 'working' : 'gone';
}
