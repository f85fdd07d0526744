/**
 * How far `parlane plan` is off on the way that users go: `run`, then `plan` from what the store knows, then `run` again
 * with other seeds; and in a fresh store `plan --pilot 5`, then `run`. Nothing but commands is used, and what they print.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Forecast } from '../../src/domain/forecast.ts';
import type { RunEvent } from '../../src/domain/run-event.ts';
import { makeProject, writeProject } from './forecast-projects.ts';
import { VirtualCommandLine } from './virtual-command-line.ts';

interface Played {
  readonly timeMs: number;
  readonly costUsdMicros: number;
  readonly errors: number;
}

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

async function play(commands: VirtualCommandLine, seed: number): Promise<Played> {
  const out = await commands.run('run', '--json', '--yes', '--no-forecast', '--seed', String(seed));
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent);
  const start = events.find((event): event is Of<'run-start'> => event.type === 'run-start');
  const end = events.findLast((event): event is Of<'run-end'> => event.type === 'run-end');
  const spend = events.findLast((event): event is Of<'spend'> => event.type === 'spend');
  if (start === undefined || end?.complete !== true)
    throw new Error(`A run did not come to its end: ${out.slice(-500)}`);
  return { timeMs: end.at - start.at, costUsdMicros: spend?.usdMicros ?? 0, errors: end.totals.errors };
}

const plan = async (commands: VirtualCommandLine, ...flags: string[]): Promise<Forecast> =>
  JSON.parse(await commands.run('plan', '--json', ...flags)) as Forecast;

export interface CommandTrial {
  readonly name: string;
  readonly actual: Played;
  readonly forecast: Forecast;
  readonly afterPilot: Played;
  readonly fromPilot: Forecast;
}

/** Where files live in memory, if there is such a place: syncing thousands of answers is not what is measured. */
const quickFolder = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

export async function forecastByCommand(seed: number): Promise<CommandTrial> {
  const project = makeProject(seed);
  const home = mkdtempSync(join(quickFolder(), 'parlane-forecast-'));
  const inFolder = (name: string): VirtualCommandLine => {
    writeProject(project, join(home, name));
    return new VirtualCommandLine(join(home, name));
  };
  try {
    const known = inFolder('known');
    await play(known, seed * 10 + 1);
    const forecast = await plan(known);
    const actual = await play(known, seed * 10 + 2);
    const fresh = inFolder('fresh');
    const fromPilot = await plan(fresh, '--pilot', '5', '--seed', String(seed * 10 + 3));
    const afterPilot = await play(fresh, seed * 10 + 4);
    return { name: project.name, actual, forecast, afterPilot, fromPilot };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
