import { type CheckInput, demand } from '../check.ts';
import type { Trace } from '../subject.ts';

/** The trace, or the problem that there is none. */
export function demandTrace({ type, subject }: CheckInput): Trace {
  demand(subject.trace !== undefined, `"${type}" needs a trace, and this answer has none`);
  return subject.trace;
}
