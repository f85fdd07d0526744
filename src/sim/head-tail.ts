/**
 * Calls as a lower bound sees them, and the head-tail bound over them: of the calls whose tail (their own time and
 * everything after them in their case) is at least `q`, those with a head of at least `h` cannot start before `h`, cannot
 * be admitted faster than the limit allows, and the last of them still has `q` to go.
 *
 * 1. Four numbers a call, and above `mostPlaced` calls none: then only sums are kept, and the bound is the plain one.
 */

const thresholds = 48;
const fields = 4;
/** Calls of one lane that are placed one by one, unless told otherwise. */
const mostPlaced = 100_000;

/** The earliest time by which `units` can have been admitted, none of them before `head`; `heaviest` of a single call. */
export type Admission = (units: number, head: number, heaviest: number) => number;

/** What calls weigh, from their number and their input and output tokens. */
export type Weigh = (calls: number, input: number, output: number) => number;

interface Sorted {
  readonly byHead: Uint32Array;
  readonly tails: Float64Array;
}

export class PlacedCalls {
  count = 0;
  latencyMs = 0;
  /** Head, tail, input and output of each call; empty when there are too many. */
  #values = new Float64Array(64 * fields);
  #placed = true;
  #order: Sorted | undefined;
  readonly #most: number;
  #input = 0;
  #output = 0;
  #heaviest = 0;
  /** The shortest way from a call's start to the end of its case. */
  #leastTail = Number.POSITIVE_INFINITY;

  constructor(most = mostPlaced) {
    this.#most = most;
  }

  /** False when there are too many: then the sums are all there is. */
  get placed(): boolean {
    return this.#placed;
  }

  add(head: number, tail: number, latencyMs: number, input: number, output: number): void {
    this.#sum(1, tail, latencyMs, input, output, input + output);
    if (this.count > this.#most) this.#forget();
    if (!this.#placed) return;
    const at = (this.count - 1) * fields;
    if (at === this.#values.length) {
      const longer = new Float64Array(at * 2);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[at] = head;
    this.#values[at + 1] = tail;
    this.#values[at + 2] = input;
    this.#values[at + 3] = output;
  }

  /** All of these as one list. */
  static joined(lists: readonly PlacedCalls[]): PlacedCalls {
    const [only] = lists;
    if (lists.length === 1 && only !== undefined) return only;
    const all = new PlacedCalls();
    for (const list of lists) all.#take(list);
    return all;
  }

  /** No schedule admits these calls and ends their cases earlier. */
  bound(weigh: Weigh, admission: Admission): number {
    if (this.count === 0) return 0;
    if (!this.#placed)
      return admission(weigh(this.count, this.#input, this.#output), 0, this.#heaviest) + this.#leastTail;
    const { byHead, tails } = this.#sorted();
    let best = 0;
    let last = Number.NaN;
    for (let step = 0; step < thresholds; step += 1) {
      const q = tails[Math.floor((step / thresholds) * tails.length)] as number;
      if (q !== last) best = Math.max(best, this.#fed(byHead, q, weigh, admission));
      last = q;
    }
    return best;
  }

  /** Where the calls are, by falling head, and their tails by size; the same for every resource. */
  #sorted(): Sorted {
    if (this.#order?.byHead.length === this.count) return this.#order;
    const values = this.#values;
    const byHead = new Uint32Array(this.count);
    const tails = new Float64Array(this.count);
    for (let at = 0; at < this.count; at += 1) {
      byHead[at] = at * fields;
      tails[at] = values[at * fields + 1] as number;
    }
    byHead.sort((a, b) => (values[b] as number) - (values[a] as number));
    this.#order = { byHead, tails: tails.sort() };
    return this.#order;
  }

  /** The bound over all heads for one tail threshold; calls come sorted by falling head. */
  #fed(byHead: Uint32Array, q: number, weigh: Weigh, admission: Admission): number {
    const values = this.#values;
    let units = 0;
    let heaviest = 0;
    let best = 0;
    for (let place = 0; place < byHead.length; place += 1) {
      const at = byHead[place] as number;
      if ((values[at + 1] as number) < q) continue;
      const weight = weigh(1, values[at + 2] as number, values[at + 3] as number);
      units += weight;
      if (weight > heaviest) heaviest = weight;
      const end = admission(units, values[at] as number, heaviest) + q;
      if (end > best) best = end;
    }
    return best;
  }

  #sum(count: number, tail: number, latencyMs: number, input: number, output: number, heaviest: number): void {
    this.count += count;
    this.latencyMs += latencyMs;
    this.#input += input;
    this.#output += output;
    if (heaviest > this.#heaviest) this.#heaviest = heaviest;
    if (tail < this.#leastTail) this.#leastTail = tail;
  }

  #take(other: PlacedCalls): void {
    if (!other.#placed) {
      this.#sum(other.count, other.#leastTail, other.latencyMs, other.#input, other.#output, other.#heaviest);
      return this.#forget();
    }
    for (let at = 0; at < other.count * fields; at += fields) {
      const [head = 0, tail = 0, input = 0, output = 0] = other.#values.subarray(at, at + fields);
      this.add(head, tail, 0, input, output);
    }
    this.latencyMs += other.latencyMs;
  }

  #forget(): void {
    this.#placed = false;
    this.#values = new Float64Array(0);
  }
}
