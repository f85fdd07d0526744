import type { FailureCode, ProviderFailure, RateHints } from '../../domain/reply.ts';
import type { Random } from '../../domain/seeded-random.ts';
import type { SimFaultRates } from './sim-options.ts';

export type SimFault = keyof SimFaultRates;

/** At most one fault for a call, in a fixed order so that a seed repeats it. */
export function drawFault(rates: SimFaultRates, random: Random): SimFault | undefined {
  let draw = random();
  for (const [name, share] of Object.entries(rates) as [SimFault, number][]) {
    if (draw < share) return name;
    draw -= share;
  }
  return undefined;
}

interface Told {
  readonly code: FailureCode;
  readonly status?: number;
  readonly message: string;
  readonly billed: 'no' | 'maybe';
  readonly vendorCode?: string;
  readonly retryOnce?: boolean;
}

const failures: Readonly<Partial<Record<SimFault, Told>>> = {
  overloaded: {
    code: 'overloaded',
    status: 503,
    message: 'the simulated server is overloaded',
    billed: 'no',
    vendorCode: 'overloaded_error',
  },
  error: {
    code: 'transient',
    status: 500,
    message: 'the simulated server failed',
    billed: 'no',
    vendorCode: 'server_error',
  },
  reset: { code: 'transient', message: 'the simulated connection was reset', billed: 'maybe' },
  empty: {
    code: 'empty_response',
    status: 200,
    message: 'the simulated model answered nothing',
    billed: 'maybe',
    retryOnce: true,
  },
  limited: { code: 'rate_limited', status: 429, message: 'the simulated server told us to wait', billed: 'no' },
};

/** The failure that a fault gives; undefined for those that are answers. */
export function failureOf(fault: SimFault, id: string, hints: RateHints): ProviderFailure | undefined {
  const told = failures[fault];
  if (told === undefined) return undefined;
  const { message, ...rest } = told;
  const body = { error: { message, code: told.vendorCode ?? told.code } };
  return { kind: 'failure', ...rest, message: `${id}: ${message}.`, retryable: true, hints, raw: JSON.stringify(body) };
}

/** Arguments cut in the middle, as models do now and then. */
export const malformed = (text: string): string =>
  text.length > 4 ? text.slice(0, Math.ceil(text.length * 0.6)) : '{"value":';
