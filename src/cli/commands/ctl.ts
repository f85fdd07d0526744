import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { LaneSnapshot } from '../../domain/lane.ts';
import { counted, duration } from '../../domain/measures.ts';
import { shownStatus } from '../../domain/row.ts';
import { realClock } from '../../platform/clock.ts';
import { askControl } from '../../platform/control-socket.ts';
import { laneCauseWords } from '../../reporters/terminal/cause-words.ts';
import { singleLine } from '../../reporters/terminal/text-width.ts';
import type { ControlRequest, WhyAnswer } from '../../run/run-control.ts';
import { defaultStoreFolder } from '../../store/open-store.ts';
import type { CliContext } from '../cli-context.ts';
import { storeOption } from '../open-project-store.ts';

interface CtlOptions {
  readonly store?: string;
  readonly json?: boolean;
}

/** As a config calls them, and shorter. */
const limitNames: Readonly<Record<string, string>> = {
  rpm: 'rpm',
  tpm: 'tpm',
  inputTpm: 'inputTpm',
  outputTpm: 'outputTpm',
  maxConcurrent: 'maxConcurrent',
  minGapMs: 'minGapMs',
  concurrent: 'maxConcurrent',
  gap: 'minGapMs',
};

/** `rpm=100 concurrent=8` -> limits. */
function parseLimits(words: readonly string[]): Record<string, number> {
  const limits: Record<string, number> = {};
  for (const word of words) {
    const [name = '', text = ''] = word.split('=');
    const key = limitNames[name];
    const value = Number(text);
    if (key === undefined || !(value > 0)) {
      throw new ParlaneError(
        'cli/bad-limit',
        `"${word}" is not a limit.`,
        `Write ${Object.keys(limitNames).join(', ')} as in rpm=100.`,
      );
    }
    limits[key] = value;
  }
  if (words.length === 0)
    throw new ParlaneError('cli/bad-limit', 'No limit was named.', 'For example: parlane ctl limit openai rpm=100.');
  return limits;
}

function requestOf(verb: string, words: readonly string[]): ControlRequest {
  const [first, ...rest] = words;
  const numbered = Number((first ?? '').replace(/^#/, ''));
  switch (verb) {
    case 'status':
      return { do: 'status' };
    case 'pause':
    case 'resume':
      return { do: verb, ...(first === undefined ? {} : { lane: first }) };
    case 'limit':
      return { do: 'limit', lane: first ?? '', limits: parseLimits(rest) };
    case 'cancel':
    case 'why':
      return { do: verb, case: numbered };
    default:
      throw new ParlaneError(
        'cli/bad-verb',
        `"ctl ${verb}" is not something to ask.`,
        'Ask for status, pause, resume, limit, cancel or why.',
      );
  }
}

const laneLine = (lane: LaneSnapshot, now: number): string =>
  `${lane.key}  ${lane.inFlight}/${lane.maxConcurrentDynamic} in flight, ${lane.queue} queued: ${laneCauseWords(lane, now)}`;

interface StatusAnswer {
  readonly run: string;
  readonly name: string;
  readonly planned: number;
  readonly completed: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly lanes: readonly LaneSnapshot[];
}

function statusLines({ run, name, planned, completed, lanes, ...counts }: StatusAnswer, now: number): string[] {
  const ends = `${counts.passed} passed, ${counts.failed} failed, ${counted(counts.errors, 'error')}`;
  return [
    `run ${run}  ${singleLine(name)}: ${completed} of ${counted(planned, 'case')} done, ${ends}`,
    ...lanes.map((lane) => laneLine(lane, now)),
  ];
}

function whyLines({ case: number, ended, calls }: WhyAnswer, now: number): string[] {
  if (ended !== undefined)
    return [`#${number} is done: ${shownStatus({ status: ended })}. See it: parlane show ${number}`];
  if (calls.length === 0)
    return [`#${number} has no call waiting or running: it has not begun, or is busy with a tool.`];
  return calls.map(({ path, lane, running, submittedAt, attempts, snapshot }) => {
    const since = duration(now - submittedAt);
    if (running)
      return `#${number} ${path}: on the wire in ${lane} (attempt ${attempts}, ${since} since it was asked for)`;
    return `#${number} ${path}: waits in ${lane} for ${since}; ${snapshot === undefined ? '' : laneCauseWords(snapshot, now)}`;
  });
}

function textOf(request: ControlRequest, answer: unknown): string {
  const now = realClock.now();
  if (request.do === 'status') return statusLines(answer as StatusAnswer, now).join('\n');
  if (request.do === 'why') return whyLines(answer as WhyAnswer, now).join('\n');
  if (request.do === 'cancel') return `Case #${request.case} is being cancelled.`;
  const lanes = (answer as { lanes: string[] }).lanes.join(', ');
  if (request.do !== 'limit') return `${request.do}: ${lanes}`;
  const values = Object.entries(request.limits).map(([name, value]) => `${name} is now ${value}`);
  return `${lanes}: ${values.join(', ')}`;
}

async function ask(verb: string, words: readonly string[], options: CtlOptions, context: CliContext): Promise<void> {
  const request = requestOf(verb, words);
  const folder =
    options.store === undefined ? join(context.cwd, defaultStoreFolder) : resolve(context.cwd, options.store);
  const answer = await askControl(folder, request);
  if (answer === undefined)
    throw new ParlaneError(
      'ctl/no-run',
      `No run is under way in ${folder}.`,
      'Start one with "parlane run", or name its folder with --store.',
    );
  if (answer.error !== undefined) throw new ParlaneError('ctl/refused', answer.error, '');
  context.print(options.json === true ? JSON.stringify(answer.ok) : textOf(request, answer.ok));
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[verb]', 'status, pause, resume, limit, cancel or why', 'status')
    .argument('[words...]', 'a lane, limits such as rpm=100, or the number of a case')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane ctl\n  parlane ctl pause openai\n  parlane ctl limit openai rpm=100\n  parlane ctl why 512\n',
    )
    .action((verb: string, words: string[], options: CtlOptions) => ask(verb, words, options, context));
}
