import type { Millis, UsdMicros } from './ids.ts';
import type { BudgetNeed } from './run-event.ts';

/** Numbers as people read them, the same in terminal, report and messages. */

const two = (value: number): string => String(value).padStart(2, '0');

/** `0:49`, `1:12`, `1:02:03`. */
export function clock(ms: Millis): string {
  const all = Math.max(0, Math.round(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** `12 ms`, `6.1 s`, `17 s`, and from a minute on `1:12`. */
export function duration(ms: Millis): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 59_500) return `${Math.round(ms / 1000)} s`;
  return clock(ms);
}

/** Cents; below a cent two digits that are not 0, however small the amount is. */
function moneyDigits(micros: UsdMicros): number {
  const usd = Math.abs(micros / 1_000_000);
  if (usd === 0 || usd >= 0.01) return 2;
  const [, decimals = ''] = Number(usd.toPrecision(2)).toFixed(20).split('.');
  const first = decimals.search(/[1-9]/);
  return Math.max(2, decimals[first + 1] === '0' ? first + 1 : first + 2);
}

const dollars = (micros: UsdMicros, digits: number): string => `$${(micros / 1_000_000).toFixed(digits)}`;

/** `$1.84`; below a cent `$0.0042`; null is a price nobody knows, which is not 0. */
export function money(micros: UsdMicros | null | undefined): string {
  return micros === null || micros === undefined ? 'price unknown' : dollars(micros, moneyDigits(micros));
}

/** Amounts that are read together, parts and their sum: all with as many digits as the smallest of them needs. */
export function moneyAlike(amounts: readonly (UsdMicros | null)[]): string[] {
  const digits = Math.max(2, ...amounts.map((each) => moneyDigits(each ?? 0)));
  return amounts.map((each) => (each === null ? money(each) : dollars(each, digits)));
}

/** An amount as `--budget` takes it, rounded up: `0.05`, `1.25`; below a cent `0.0042`. */
export const budgetFlag = (micros: UsdMicros): string => {
  const step = micros < 10_000 ? 100 : 10_000;
  return String((Math.ceil(micros / step) * step) / 1_000_000);
};

/** An amount near a cap, where a rounded cent would tell nothing: `$0.0328`. */
const close = (micros: UsdMicros, round: (value: number) => number): string => {
  const digits = micros >= 1_000_000 ? 2 : Math.max(4, moneyDigits(micros));
  const steps = 10 ** digits / 1_000_000;
  // Without the noise of the division, which a step up or down would make a digit of.
  return `$${(round(Number((micros * steps).toPrecision(12))) / 10 ** digits).toFixed(digits)}`;
};

/** Why a spend cap stopped a run, and what would let it go on. */
export const budgetWords = ({ capUsdMicros, leftUsdMicros, nextUsdMicros, enoughUsdMicros }: BudgetNeed): string =>
  `the next call may cost up to ${close(nextUsdMicros, Math.ceil)} and ${close(leftUsdMicros, Math.floor)} of ${close(capUsdMicros, Math.round)} is left; give at least --budget ${budgetFlag(enoughUsdMicros)}`;

/** `950`, `11k`, `1.2M`. */
export function amount(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  if (value < 9_950) return `${(value / 1_000).toFixed(1)}k`;
  if (value < 999_500) return `${Math.round(value / 1_000)}k`;
  return `${(value / 1_000_000).toFixed(value < 9_950_000 ? 1 : 0)}M`;
}

/** `94 %`; one decimal place where whole numbers would hide that it is not quite all or nothing. */
export function percent(share: number): string {
  const value = share * 100;
  const whole = Math.round(value);
  if (Math.abs(value - whole) < 0.05) return `${whole} %`;
  return whole === 0 || whole === 100 ? `${value.toFixed(1)} %` : `${whole} %`;
}

/** `1 case`, `2 cases`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
