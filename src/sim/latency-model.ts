import type { Millis } from '../domain/ids.ts';
import type { Random } from '../domain/seeded-random.ts';

/** How long an answer takes. */
export type LatencyModel =
  | { readonly kind: 'fixed'; readonly ms: Millis }
  | { readonly kind: 'uniform'; readonly fromMs: Millis; readonly toMs: Millis }
  /** Long-tailed, as model answers are: half are quicker than `medianMs`, one in twenty is slower than `p95Ms`. */
  | { readonly kind: 'lognormal'; readonly medianMs: Millis; readonly p95Ms: Millis };

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** `300ms`, `1.5s`, `2m`, or a bare number of milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): Millis | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text.trim());
  return match ? Number(match[1]) * (unitMs[match[2] ?? 'ms'] ?? 1) : undefined;
}

/** `300ms` fixed, `200-400ms` uniform, `300ms~900ms` median and 95th percentile; undefined when it is none of these. */
export function parseLatency(text: string): LatencyModel | undefined {
  const split = /^([\d.]+)(ms|s|m)?([-~])([\d.]+)(ms|s|m)?$/.exec(text.trim());
  if (split === null) {
    const ms = parseDuration(text);
    return ms === undefined ? undefined : { kind: 'fixed', ms };
  }
  const low = parseDuration(`${split[1]}${split[2] ?? split[5] ?? 'ms'}`);
  const high = parseDuration(`${split[4]}${split[5] ?? split[2] ?? 'ms'}`);
  if (low === undefined || high === undefined || high < low) return undefined;
  return split[3] === '-'
    ? { kind: 'uniform', fromMs: low, toMs: high }
    : { kind: 'lognormal', medianMs: low, p95Ms: high };
}

/** z of the 95th percentile of a normal distribution. */
const z95 = 1.6449;

/** One draw. */
export function drawLatency(model: LatencyModel, random: Random): Millis {
  if (model.kind === 'fixed') return model.ms;
  if (model.kind === 'uniform') return model.fromMs + (model.toMs - model.fromMs) * random();
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const sigma = Math.log(model.p95Ms / Math.max(model.medianMs, 1e-9)) / z95;
  return model.medianMs * Math.exp(sigma * normal);
}

/** The middle of a model and how wide it is, for forecasts. */
export function typicalLatency(model: LatencyModel): { readonly medianMs: Millis; readonly sigma: number } {
  if (model.kind === 'fixed') return { medianMs: model.ms, sigma: 0 };
  if (model.kind === 'uniform') return { medianMs: (model.fromMs + model.toMs) / 2, sigma: 0.2 };
  return { medianMs: model.medianMs, sigma: Math.log(model.p95Ms / model.medianMs) / z95 };
}
