import type { LaneState } from './lane-state.ts';

/** Lanes that stand under a common node. A lane that shares nothing is a group of its own. */
export class LaneGroup {
  readonly lanes: LaneState[] = [];
  /** Service level of the lane served last: an idle lane comes back at this level and cannot claim the past. */
  served = 0;

  absorb(other: LaneGroup): void {
    for (const lane of other.lanes) {
      lane.group = this;
      this.lanes.push(lane);
    }
    this.served = Math.max(this.served, other.served);
    other.lanes.length = 0;
  }
}
