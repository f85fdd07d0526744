import { Argument, type Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import type { CommandEntry, CommandModule } from '../command-table.ts';
import { addCommand, newProgram } from '../program.ts';
import { type CompletedCommand, completionScript, type Shell, shells } from '../shell-completion.ts';

/** Every command with its flags and fixed words, from the commands themselves. */
async function completedCommands(table: readonly CommandEntry[], context: CliContext): Promise<CompletedCommand[]> {
  const program = newProgram(context, true);
  for (const entry of table) await addCommand(program, entry, true, context);
  return program.commands.map((command) => ({
    name: command.name(),
    summary: command.description(),
    flags: command.options.flatMap(({ long }) => long ?? []),
    words: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  }));
}

async function completion(
  shell: Shell,
  asJson: boolean,
  table: readonly CommandEntry[],
  context: CliContext,
): Promise<void> {
  const commands = await completedCommands(table, context);
  context.print(asJson ? JSON.stringify({ shell, commands }) : completionScript(shell, commands));
}

/** The table is an argument, because this command is itself a line of it. */
export const completionOf = (table: () => readonly CommandEntry[]): CommandModule => ({
  define(command: Command, context: CliContext): void {
    command
      .addArgument(new Argument('<shell>', 'for which shell').choices(shells))
      .addHelpText(
        'before',
        'Examples:\n  parlane completion bash >> ~/.bashrc\n  parlane completion zsh > ~/.zfunc/_parlane\n  parlane completion fish > ~/.config/fish/completions/parlane.fish\n',
      )
      .action((shell: Shell, options: { readonly json?: boolean }) =>
        completion(shell, options.json === true, table(), context),
      );
  },
});
