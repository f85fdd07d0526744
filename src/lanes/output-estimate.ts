/**
 * The 90th percentile of what a lane's calls have really put out, from a histogram on a logarithmic scale (steps of
 * about 9 %). Old observations fade by halving all counts now and then.
 */
export class OutputEstimate {
  private readonly counts: number[] = [];
  private total = 0;
  private seen = 0;
  private known: number | undefined;
  /** Changes whenever the estimate does. */
  version = 0;
  private next = 5;

  observe(tokens: number): void {
    const slot = Math.max(0, Math.round(8 * Math.log2(Math.max(1, tokens))));
    this.counts[slot] = (this.counts[slot] ?? 0) + 1;
    this.total += 1;
    this.seen += 1;
    if (this.seen >= this.next) this.refresh();
    if (this.total > 4096) this.fade();
  }

  /** Undefined until a few answers have been seen. */
  p90(): number | undefined {
    return this.known;
  }

  /** Looks again after every tenth more answers: often at first, seldom later. */
  private refresh(): void {
    this.next = this.seen + Math.max(1, Math.min(64, Math.floor(this.seen / 10)));
    const p90 = this.percentile(0.9);
    if (p90 === this.known) return;
    this.known = p90;
    this.version += 1;
  }

  private percentile(share: number): number {
    let seen = 0;
    for (let slot = 0; slot < this.counts.length; slot += 1) {
      seen += this.counts[slot] ?? 0;
      if (seen >= share * this.total) return Math.ceil(2 ** ((slot + 0.5) / 8));
    }
    return 2 ** (this.counts.length / 8);
  }

  private fade(): void {
    this.total = 0;
    for (let slot = 0; slot < this.counts.length; slot += 1) {
      const kept = (this.counts[slot] ?? 0) / 2;
      this.counts[slot] = kept;
      this.total += kept;
    }
  }
}
