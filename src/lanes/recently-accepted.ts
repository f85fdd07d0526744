/** What a provider has accepted lately, per resource: a few samples of a running total, enough to tell a rate. */
interface Sample {
  readonly at: number;
  readonly accepted: readonly number[];
}

const sampleEveryMs = 250;
const keptSamples = 128;
const shortestMs = 1_000;

export class RecentlyAccepted {
  private readonly samples: Sample[] = [];
  /** Where the next sample goes once the ring is full. */
  private next = 0;
  private newest: Sample | undefined;

  /** Whether it is time for another sample. */
  wants(at: number): boolean {
    return this.newest === undefined || at - this.newest.at >= sampleEveryMs;
  }

  note(at: number, accepted: readonly number[]): void {
    if (!this.wants(at)) return;
    this.newest = { at, accepted };
    this.samples[this.next] = this.newest;
    this.next = (this.next + 1) % keptSamples;
  }

  /** Units per millisecond over about the last `spanMs` before `until`; undefined when too little was seen. */
  rate(resource: number, until: number, spanMs: number): number | undefined {
    let from: Sample | undefined;
    let to: Sample | undefined;
    for (const sample of this.samples) {
      if (sample.at > until) continue;
      if (to === undefined || sample.at > to.at) to = sample;
      if (sample.at >= until - spanMs && (from === undefined || sample.at < from.at)) from = sample;
    }
    if (from === undefined || to === undefined || to.at - from.at < shortestMs) return undefined;
    const units = (to.accepted[resource] ?? 0) - (from.accepted[resource] ?? 0);
    return units > 0 ? units / (to.at - from.at) : undefined;
  }
}
