/**
 * The commands, as data: a name, one line for the overview, and where the rest is. A command's file is loaded only when
 * the command is used, so that `--help` and a typo cost nothing. To add one: a line here, a file in `commands/`.
 */
import type { Command } from 'commander';
import type { CliContext } from './cli-context.ts';

export interface CommandModule {
  /** Adds arguments, options, examples and the action. */
  define(command: Command, context: CliContext): void;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'check',
    summary: 'find every problem of a config; sends nothing',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'compare',
    summary: 'what got better or worse between two runs, and whether it may be chance',
    load: () => import('./commands/compare.ts'),
  },
  {
    name: 'completion',
    summary: 'completion for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completionOf(() => commandTable),
  },
  {
    name: 'ctl',
    summary: 'ask or steer a run from another terminal',
    load: () => import('./commands/ctl.ts'),
  },
  {
    name: 'doctor',
    summary: 'keys, limits, prices, storage and versions',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'eval',
    summary: 'run a promptfoo config, unchanged',
    load: () => import('./commands/eval.ts'),
  },
  {
    name: 'export',
    summary: 'write a run as one HTML file, CSV, JSON lines or JUnit XML',
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'fork',
    summary: 'keep the first turns of a conversation, change something, play on',
    load: () => import('./commands/fork.ts'),
  },
  {
    name: 'import',
    summary: 'bring in recorded conversations of other tools as a run',
    load: () => import('./commands/import.ts'),
  },
  {
    name: 'init',
    summary: 'write a project that runs offline',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'plan',
    summary: 'what a run would take: calls, time and cost per lane; nothing is sent',
    load: () => import('./commands/plan.ts'),
  },
  {
    name: 'replay',
    summary: 'play a recorded case again, offline: is every request still the same?',
    load: () => import('./commands/replay.ts'),
  },
  {
    name: 'rescore',
    summary: 'judge a run again; nothing is played',
    load: () => import('./commands/rescore.ts'),
  },
  {
    name: 'resume',
    summary: 'go on with a run that was stopped or killed',
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'retry',
    summary: 'run one case or the failed ones again, as a new run',
    load: () => import('./commands/retry.ts'),
  },
  {
    name: 'run',
    summary: 'run the evals and conversations of a config',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'runs',
    summary: 'list the runs of this project; name, pin, delete them, choose the baseline',
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'schema',
    summary: 'JSON Schema of the config, or of a conversation result',
    load: () => import('./commands/schema.ts'),
  },
  {
    name: 'show',
    summary: 'a transcript or an output, with its checks',
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'simulate',
    summary: 'play scenarios as conversations between agents and a client',
    load: () => import('./commands/simulate.ts'),
  },
  {
    name: 'specs',
    summary: 'list, check, copy and change prompt specifications',
    load: () => import('./commands/specs.ts'),
  },
  {
    name: 'summary',
    summary: "a run's numbers: tests and conversations, pass^k, scores, turns, tokens, cost",
    load: () => import('./commands/summary.ts'),
  },
];
