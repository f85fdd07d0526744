import type { FaultAct } from '../fault-act.ts';
import type { FaultKind } from '../fault-kinds.ts';
import type { BucketReading } from '../limit-scope.ts';
import type { ErrorClass } from '../wires/wire.ts';

type Headers = Readonly<Record<string, string>>;

const rejected = (headers: Headers, error: ErrorClass = 'rate_limited', retryAfterMs?: number): FaultAct => ({
  do: 'error',
  error: {
    status: 429,
    class: error,
    message: 'Rate limit reached for this model. Please slow down.',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
  headers,
});

const after =
  (value: string): (() => FaultAct) =>
  () =>
    rejected({ 'retry-after': value });
const httpDate = (ms: number): string => new Date(ms).toUTCString();
const day = 86_400_000;

const resets =
  (reset: string, remaining = '0'): (() => FaultAct) =>
  () =>
    rejected({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': remaining,
      'x-ratelimit-reset-requests': reset,
    });

const resetAt = (format: (ms: number) => string) => (now: number) => resets(format(now + 20_000))();

const outOfMoney =
  (code: string): (() => FaultAct) =>
  () => ({
    do: 'error',
    error: { status: 429, class: 'quota', message: `You exceeded your current quota (${code}).` },
  });

const emptyBucket: BucketReading = { limit: 60, remaining: 0, resetMs: 60_000 };
const lowered: BucketReading = { limit: 30, remaining: 29, resetMs: 2_000 };

export const rateFaults: readonly FaultKind[] = [
  { kind: 1, group: 'rate', title: '429 with retry-after in seconds', variants: { seconds: after('7') } },
  {
    kind: 2,
    group: 'rate',
    title: '429 with retry-after as a date',
    variants: {
      date: (now) => rejected({ 'retry-after': httpDate(now + 7_000) }),
      'skewed-clock': (now) => rejected({ date: httpDate(now - day), 'retry-after': httpDate(now - day + 7_000) }),
    },
  },
  {
    kind: 3,
    group: 'rate',
    title: '429 with retry-after-ms beside retry-after',
    variants: {
      both: () => rejected({ 'retry-after-ms': '350', 'retry-after': '7' }),
      'invalid-ms': () => rejected({ 'retry-after-ms': 'soon', 'retry-after': '7' }),
    },
  },
  { kind: 4, group: 'rate', title: '429 without any hint', variants: { none: () => rejected({}) } },
  { kind: 5, group: 'rate', title: '429 with retry-after 0', variants: { zero: after('0') } },
  {
    kind: 6,
    group: 'rate',
    title: '429 with a retry-after that is no number',
    variants: {
      negative: after('-1'),
      nan: after('NaN'),
      exponent: after('1e3'),
      fraction: after('1.5'),
      unit: after('5s'),
      empty: after(''),
    },
  },
  {
    kind: 7,
    group: 'rate',
    title: '429 with an absurdly long wait',
    variants: { 'two-days': after('198300'), 'three-days': after('277403') },
  },
  { kind: 8, group: 'rate', title: '429 with a wait beyond 2^31 ms', variants: { 'thirty-days': after('2592000') } },
  {
    kind: 9,
    group: 'rate',
    title: '429 with a date in the past or a clock far off',
    variants: {
      past: (now) => rejected({ 'retry-after': httpDate(now - 3_600_000) }),
      'day-ahead': (now) => rejected({ date: httpDate(now + day), 'retry-after': httpDate(now + day + 7_000) }),
      'year-behind': (now) =>
        rejected({ date: httpDate(now - 365 * day), 'retry-after': httpDate(now - 365 * day + 7_000) }),
    },
  },
  {
    kind: 10,
    group: 'rate',
    title: '429 with reset headers in many forms',
    variants: {
      minutes: resets('6m0s'),
      seconds: resets('1s'),
      milliseconds: resets('100ms'),
      'epoch-s': resetAt((ms) => String(Math.round(ms / 1000))),
      'epoch-ms': resetAt((ms) => String(Math.round(ms))),
      iso: resetAt((ms) => new Date(ms).toISOString()),
      contradictory: resets('1s', '37'),
    },
  },
  { kind: 11, group: 'rate', title: '429 on every call', variants: { storm: () => rejected({}) } },
  {
    kind: 12,
    group: 'rate',
    title: '429 on tokens only',
    variants: {
      tokens: () =>
        rejected(
          {
            'x-ratelimit-limit-requests': '500',
            'x-ratelimit-remaining-requests': '480',
            'x-ratelimit-reset-requests': '2s',
            'x-ratelimit-limit-tokens': '30000',
            'x-ratelimit-remaining-tokens': '0',
            'x-ratelimit-reset-tokens': '60s',
            'retry-after': '3',
          },
          'tokens_limited',
          3_000,
        ),
    },
  },
  {
    kind: 13,
    group: 'rate',
    title: '429 because the money is gone',
    variants: { insufficient_quota: outOfMoney('insufficient_quota'), monthly: outOfMoney('monthly limit') },
  },
  { kind: 14, group: 'rate', title: '429 on one key of several', variants: { key: after('1') } },
  {
    kind: 15,
    group: 'rate',
    title: 'limits lowered in mid-run',
    variants: { lowered: () => ({ do: 'reply', readings: { requests: lowered } }) },
  },
  {
    kind: 16,
    group: 'rate',
    title: '200 with nothing remaining',
    variants: { empty: () => ({ do: 'reply', readings: { requests: emptyBucket } }) },
  },
];
