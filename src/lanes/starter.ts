/** Starts what may start, lane by lane, fairly among lanes under a common node, and sets each lane's one timer. */
import type { LaneEvent } from '../domain/lane.ts';
import type { LaneGroup } from './lane-group.ts';
import type { LaneState } from './lane-state.ts';
import type { CallEnd, Command } from './messages.ts';
import { type QueuedCall, resourceNames } from './queued-call.ts';
import { readyAt, tooLarge } from './readiness.ts';
import { takenAtEnd } from './reservation.ts';

interface Outlet {
  finish(call: QueuedCall, end: CallEnd, now: number): void;
  tell(event: LaneEvent): void;
  say(command: Command): void;
  readonly events: boolean;
}

const never = Number.POSITIVE_INFINITY;

export class Starter {
  private readonly outlet: Outlet;
  private stopped = false;

  constructor(outlet: Outlet) {
    this.outlet = outlet;
  }

  /** Nothing starts any more (L8). */
  stop(): void {
    this.stopped = true;
  }

  /** Starts whatever may start in this group now. */
  pump(group: LaneGroup, now: number): void {
    const { lanes } = group;
    if (lanes.length === 1) {
      const lane = lanes[0] as LaneState;
      let at = readyAt(lane, now);
      while (at <= now && !this.stopped) {
        this.start(lane, now);
        at = readyAt(lane, now);
      }
      this.setTimer(lane, at);
      return;
    }
    for (let next = this.fairest(group, now); next !== undefined; next = this.fairest(group, now)) {
      this.start(next, now);
    }
    for (const lane of lanes) this.setTimer(lane, readyAt(lane, now));
  }

  /** Among the lanes that may start a call now, the one that has been served least; a tie goes to the longest remainder. */
  private fairest(group: LaneGroup, now: number): LaneState | undefined {
    if (this.stopped) return undefined;
    let best: LaneState | undefined;
    for (const lane of group.lanes) {
      if (readyAt(lane, now) > now) continue;
      if (lane.inFlight === 0 && lane.served < group.served) lane.served = group.served;
      const ties = best !== undefined && lane.served === best.served;
      if (best === undefined || lane.served < best.served || (ties && remainder(lane) > remainder(best))) best = lane;
    }
    return best;
  }

  private start(lane: LaneState, now: number): void {
    const call = lane.ready.pop();
    if (call === undefined) return;
    const large = tooLarge(call);
    if (large !== undefined) {
      const resource = resourceNames[large.resource] ?? 'tokens';
      return this.outlet.finish(call, { type: 'too-large', resource, limit: large.limit, cost: large.cost }, now);
    }
    this.charge(lane, call, now);
    const { id, index, attempts: attempt } = call;
    this.outlet.say({ type: 'start', call: id, lane: lane.key, attempt });
    if (this.outlet.events) this.outlet.tell({ type: 'call-start', lane: lane.key, call: id, index, at: now, attempt });
  }

  /** Takes what the call needs at every node on its path, in one step. */
  private charge(lane: LaneState, call: QueuedCall, now: number): void {
    lane.started += 1;
    lane.inFlight += 1;
    lane.lastStartAt = now;
    lane.served += 1 / lane.weight;
    if (lane.group.served < lane.served - 1) lane.group.served = lane.served - 1;
    call.running = true;
    call.attempts += 1;
    call.startedAt = now;
    call.startSeq = lane.started;
    for (const node of lane.nodes) {
      node.inFlight += 1;
      for (let resource = 0; resource < 4; resource += 1) {
        node.reserve(resource, call.reserved[resource] as number, now);
      }
    }
    lane.precharged += takenAtEnd(call, lane.profile);
    lane.pace.note(call, now, lane.precharged);
  }

  private setTimer(lane: LaneState, wanted: number): void {
    const at = this.stopped ? never : wanted;
    if (at === lane.timerAt) return;
    lane.timerAt = at;
    this.outlet.say({ type: 'timer', lane: lane.key, at: at === never ? undefined : at });
  }
}

const remainder = (lane: LaneState): number => lane.ready.peek()?.remainder ?? 0;
