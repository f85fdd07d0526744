/** A binary heap; `before(a, b)` says whether `a` leaves first. Push and pop cost a logarithm, peek nothing. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.before = before;
  }

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const items = this.items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (!this.before(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.items;
    const top = items[0];
    const last = items.pop();
    if (items.length > 0 && last !== undefined) this.sink(last);
    return top;
  }

  /** Takes out everything, in no particular order. */
  drain(): T[] {
    return this.items.splice(0);
  }

  /** Takes out what `matches`, and restores the heap. Costs a pass over all items: for cancellation only. */
  remove(matches: (item: T) => boolean): T[] {
    const all = this.items.splice(0);
    const removed: T[] = [];
    for (const item of all) {
      if (matches(item)) removed.push(item);
      else this.push(item);
    }
    return removed;
  }

  private sink(item: T): void {
    const items = this.items;
    const length = items.length;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      const right = child + 1;
      if (right < length && this.before(items[right] as T, items[child] as T)) child = right;
      const below = items[child] as T;
      if (!this.before(below, item)) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }
}
