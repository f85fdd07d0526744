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
    name: 'ctl',
    summary: 'ask or steer a run from another terminal',
    load: () => import('./commands/ctl.ts'),
  },
  {
    name: 'resume',
    summary: 'go on with a run that was stopped or killed',
    load: () => import('./commands/resume.ts'),
  },
  { name: 'runs', summary: 'list the runs of this project', load: () => import('./commands/runs.ts') },
];
