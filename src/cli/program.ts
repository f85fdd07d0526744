/** The parser, from the table of commands: only a command that is used is loaded. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import type { CommandEntry } from './command-table.ts';

export const version = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

export function newProgram(context: CliContext, json: boolean): Command {
  return new Command('parlane')
    .description('Runs evals and simulated conversations through provider lanes, and loses nothing that was paid for.')
    .version(version())
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => {
        if (!json) context.complain(text.trimEnd());
      },
    })
    .exitOverride()
    .showHelpAfterError('(run with --help for all options)');
}

export async function addCommand(
  program: Command,
  entry: CommandEntry,
  used: boolean,
  context: CliContext,
): Promise<void> {
  const command = program.command(entry.name).description(entry.summary);
  if (!used) {
    command
      .allowUnknownOption()
      .helpOption(false)
      .action(() => {});
    return;
  }
  command
    .option('--json', 'JSON on stdout and nothing else')
    .option('--plain', 'no colours, no redrawing')
    .option('--debug', 'show where an error came from');
  (await entry.load()).define(command, context);
}
