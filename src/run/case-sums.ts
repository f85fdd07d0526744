/** What a case's steps took together, finished or not. What a fork kept of its parent was paid there. */
import { addedUsage, type Usage } from '../domain/reply.ts';
import type { Row } from '../domain/row.ts';
import type { StepEnd } from './step.ts';

/** What a case took. */
export type Measures = Pick<Row, 'latencyMs' | 'queueMs' | 'backoffMs' | 'attempts' | 'usage' | 'costUsdMicros'>;

export class CaseSums {
  #latencyMs = 0;
  #queueMs = 0;
  #backoffMs = 0;
  #attempts = 0;
  #cost: number | null = 0;
  #usage: Usage = {};
  calls = 0;

  add({ kind, answer }: Pick<StepEnd, 'kind' | 'answer'>): void {
    if (kind !== 'model') return;
    this.calls++;
    this.#attempts += answer.times.attempts;
    const cost = answer.pinned === true ? 0 : answer.costUsdMicros;
    this.#cost = this.#cost === null || cost === null ? null : this.#cost + cost;
    this.#usage = addedUsage(this.#usage, answer.usage);
    if (answer.path.startsWith('grade/')) return;
    this.#latencyMs += answer.times.latencyMs;
    this.#queueMs += answer.times.queueMs;
    this.#backoffMs += answer.times.backoffMs;
  }

  measured(): Measures {
    return {
      latencyMs: this.#latencyMs,
      queueMs: this.#queueMs,
      backoffMs: this.#backoffMs,
      attempts: this.#attempts,
      ...(Object.keys(this.#usage).length === 0 ? {} : { usage: this.#usage }),
      costUsdMicros: this.#cost,
    };
  }
}
