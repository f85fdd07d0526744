/** argv -> one command -> exit code. */
import { CommanderError } from 'commander';
import { keepHeapSmall } from '../platform/heap.ts';
import { type CliContext, processContext } from './cli-context.ts';
import { commandTable } from './command-table.ts';
import { exitCodes } from './exit-code.ts';
import { addCommand, newProgram } from './program.ts';

/** Help ends well; everything else that the parser ends with was bad usage, and has been told unless it is for a program. */
function endUsage(error: CommanderError, context: CliContext, json: boolean): void {
  context.exit(error.exitCode === 0 ? exitCodes.passed : exitCodes.badInput);
  if (json && error.exitCode !== 0) {
    // The parser puts what was meant on a line of its own, in brackets.
    const [message = '', ...meant] = error.message.replace(/^error: /, '').split('\n');
    const cure = meant.length === 0 ? 'See --help.' : meant.join(' ').replace(/^\((.*)\)$/, '$1');
    context.print(JSON.stringify({ error: { code: 'cli/usage', message, cure, fields: {} } }));
  }
}

/** Runs one command line; the exit code goes to the context. */
export async function runCommandLine(
  args: readonly string[],
  context: CliContext,
  table = commandTable,
): Promise<void> {
  const style = { json: args.includes('--json'), debug: args.includes('--debug') };
  const program = newProgram(context, style.json);
  const wanted = args.find((arg) => !arg.startsWith('-'));
  const named = args[0] === 'help' ? args[1] : wanted;
  for (const entry of table) await addCommand(program, entry, entry.name === named, context);
  if (args.length === 0) {
    context.print(program.helpInformation().trimEnd());
    return;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) endUsage(error, context, style.json);
    // Loaded only when needed: it knows how configs are told, which takes a while to load.
    else (await import('./report-error.ts')).reportError(error, context, style);
  }
}

/** The program itself. */
export async function main(args: readonly string[]): Promise<void> {
  keepHeapSmall();
  await runCommandLine(args, processContext());
  // What a command leaves open (a socket that a server does not close) must not keep people waiting.
  setTimeout(() => process.exit(), 300).unref();
}

if (import.meta.main) await main(process.argv.slice(2));
