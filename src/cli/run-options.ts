/** Flags of `run` and `plan`, from text to meaning. */
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { caseNumber } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import { amountAboveZero, wholeNumber } from './number-option.ts';

export interface ProjectFlags {
  readonly only?: string;
  readonly tag?: readonly string[];
  readonly failed?: boolean;
  readonly errors?: boolean;
  readonly repeat?: string;
  readonly budget?: string;
  readonly maxTime?: string;
  readonly maxConcurrency?: string;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `15m`, `2h`. */
export function timeSpan(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const span = Number(amount) * (units[unit ?? ''] ?? Number.NaN);
  if (span > 0) return span;
  throw new ParlaneError('cli/bad-time', `${flag} is "${text}".`, 'Write a time like 90s, 15m or 2h.', { flag });
}

/** `95%`, `95` or `0.95` -> 0.95. */
export function share(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text.replace(/%$/, ''));
  const read = text.endsWith('%') || value > 1 ? value / 100 : value;
  if (read >= 0 && read <= 1) return read;
  throw new ParlaneError('cli/bad-share', `${flag} is "${text}".`, 'Write a share like 95%.', { flag });
}

export const projectSettings = (flags: ProjectFlags) => {
  const [repeat, maxConcurrency] = [
    wholeNumber('--repeat', flags.repeat),
    wholeNumber('--max-concurrency', flags.maxConcurrency),
  ];
  const [budgetUsd, maxDurationMs] = [amountAboveZero('--budget', flags.budget), timeSpan('--max-time', flags.maxTime)];
  return {
    ...(repeat === undefined ? {} : { repeat }),
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
  };
};

/** Which cases the flags keep; undefined when they keep all. `last` tells how each case ended last time, by key. */
export function keeper(
  flags: ProjectFlags,
  last: ReadonlyMap<string, Row['status']>,
): ((one: Case) => boolean) | undefined {
  const tests: ((one: Case) => boolean)[] = [];
  if (flags.only !== undefined) tests.push(named(flags.only));
  if (flags.tag !== undefined) tests.push((one) => flags.tag?.some((tag) => one.tags?.includes(tag)) === true);
  const wanted = new Set<Row['status']>([
    ...(flags.failed ? (['failed', 'error', 'aborted'] as const) : []),
    ...(flags.errors ? (['error', 'aborted'] as const) : []),
  ]);
  if (wanted.size > 0) tests.push((one) => wanted.has(last.get(one.key) ?? 'passed'));
  return tests.length === 0 ? undefined : (one) => tests.every((test) => test(one));
}

/** A number as shown (`#7`), or a part of the name; `*` stands for anything. */
function named(pattern: string): (one: Case) => boolean {
  const number = /^#?(\d+)$/.exec(pattern)?.[1];
  if (number !== undefined) return (one) => caseNumber(one.index) === Number(number);
  const words = pattern.toLowerCase().split('*');
  return (one) => {
    const name = one.name.toLowerCase();
    let from = 0;
    return words.every((word) => {
      const at = name.indexOf(word, from);
      from = at + word.length;
      return at >= 0;
    });
  };
}
