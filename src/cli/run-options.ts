/** Flags of `run` and `plan`, from text to meaning. */
import type { Command } from 'commander';
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { caseNumber } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import { configOption } from './config-argument.ts';
import { amountAboveZero, wholeNumber } from './number-option.ts';

export interface ProjectFlags {
  readonly config?: string;
  readonly only?: string;
  readonly tag?: readonly string[];
  readonly failed?: boolean;
  readonly errors?: boolean;
  readonly repeat?: string;
  readonly budget?: string;
  readonly maxTime?: string;
  readonly maxConcurrency?: string;
  readonly seed?: string;
  readonly set?: readonly string[];
}

/** The flags that choose what is run, the same for `run` and `plan`. */
export function addProjectFlags(command: Command): Command {
  return command
    .argument('[config]', 'a config file or folder, or a list of scenarios (default: the config in this folder)')
    .option(...configOption)
    .option('--only <pattern>', 'cases by number or by a part of their name')
    .option('--tag <tags...>', 'cases with one of these tags')
    .option('--failed', 'cases that did not pass last time')
    .option('--errors', 'cases that ended in an error last time')
    .option('--repeat <n>', 'each case so often')
    .option('--set <path=value...>', 'another value for a place of the config: providers[0]=openai:gpt-5-mini')
    .option('--seed <n>', 'for models that take one; each repeat counts on from it')
    .option('-j, --max-concurrency <n>', 'most calls in flight over all lanes (default: each lane has its own limit)')
    .option('--spec <name>', 'of a list of scenarios: the prompt specification')
    .option('--agent-model <id>', 'of a list of scenarios: the model of the agents (default: sim:agent)')
    .option('--client-model <id>', "of a list of scenarios: the client's (default: the agents', else sim:client)")
    .option('--judge-model <id>', "of a list of scenarios: scores with the specification's evaluator");
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `15m`, `2h`. */
function timeSpan(flag: string, text: string | undefined): number | undefined {
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
  const seed = wholeNumber('--seed', flags.seed);
  return {
    ...(seed === undefined ? {} : { seed }),
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
