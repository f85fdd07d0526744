/**
 * Serial order above the lanes: first the cases of the serial phase, one by one; then cases behind the global gate, one
 * by one, beside everything that is free. A case holds the gate from its first call until it is closed, its grading
 * included. Calls of cases that wait are put aside, so that they never stand in the way of others in their lane.
 */
import type { CaseIndex } from '../domain/ids.ts';
import { Heap } from './heap.ts';
import type { QueuedCall } from './queued-call.ts';

export type SerialMode = 'phase' | 'gate';

interface Waiting {
  readonly index: CaseIndex;
  readonly mode: SerialMode;
}

const rankOf = (mode: SerialMode): number => (mode === 'phase' ? 0 : 1);

export class SerialGate {
  private readonly waiting = new Heap<Waiting>((a, b) =>
    rankOf(a.mode) === rankOf(b.mode) ? a.index < b.index : rankOf(a.mode) < rankOf(b.mode),
  );
  private readonly modes = new Map<CaseIndex, SerialMode>();
  private readonly aside = new Map<CaseIndex, QueuedCall[]>();
  private free: QueuedCall[] = [];
  private phaseCases = 0;
  private holder: CaseIndex | undefined;

  get heldBy(): CaseIndex | undefined {
    return this.holder;
  }

  open(index: CaseIndex, mode: SerialMode): QueuedCall[] {
    if (this.modes.has(index)) return [];
    this.modes.set(index, mode);
    if (mode === 'phase') this.phaseCases += 1;
    this.waiting.push({ index, mode });
    return this.pass();
  }

  /** Returns the calls that may go to their lanes now. */
  close(index: CaseIndex): QueuedCall[] {
    const mode = this.modes.get(index);
    if (mode === undefined) return [];
    this.modes.delete(index);
    if (mode === 'phase') this.phaseCases -= 1;
    if (this.holder === index) this.holder = undefined;
    const freed = this.pass();
    if (this.phaseCases === 0 && this.free.length > 0) freed.push(...this.free.splice(0));
    return freed;
  }

  /** True when the call may go to its lane; otherwise it is kept here. */
  admit(call: QueuedCall): boolean {
    const mode = this.modes.get(call.index);
    if (mode === undefined) {
      if (this.phaseCases === 0) return true;
      this.free.push(call);
      return false;
    }
    if (this.holder === call.index) return true;
    const kept = this.aside.get(call.index);
    if (kept === undefined) this.aside.set(call.index, [call]);
    else kept.push(call);
    return false;
  }

  /** Takes out every call that matches, wherever it is kept. */
  remove(matches: (call: QueuedCall) => boolean): QueuedCall[] {
    const removed = this.free.filter(matches);
    this.free = this.free.filter((call) => !matches(call));
    for (const [index, calls] of this.aside) {
      removed.push(...calls.filter(matches));
      this.aside.set(
        index,
        calls.filter((call) => !matches(call)),
      );
    }
    return removed;
  }

  private pass(): QueuedCall[] {
    if (this.holder !== undefined) return [];
    for (;;) {
      const next = this.waiting.pop();
      if (next === undefined) return [];
      if (!this.modes.has(next.index)) continue;
      this.holder = next.index;
      const calls = this.aside.get(next.index) ?? [];
      this.aside.delete(next.index);
      return calls;
    }
  }
}
