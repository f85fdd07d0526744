import type { Command } from 'commander';
import { problemReport, problemsAsJson } from '../../config/problem-report.ts';
import { editorSchema } from '../../config/schema.ts';
import { counted } from '../../domain/measures.ts';
import { type CheckedProject, checkProject } from '../check-project.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-code.ts';
import { openWorkshop } from '../open-workshop.ts';

interface CheckOptions {
  readonly config?: readonly string[];
  readonly json?: boolean;
  readonly schema?: boolean;
}

async function checkAll(files: readonly string[], options: CheckOptions, context: CliContext): Promise<CheckedProject> {
  const workshop = openWorkshop(context);
  try {
    return await checkProject([...files, ...(options.config ?? [])], workshop, context);
  } finally {
    await workshop.close();
  }
}

async function run(files: readonly string[], options: CheckOptions, context: CliContext): Promise<void> {
  if (options.schema === true) {
    context.print(JSON.stringify(editorSchema(), null, 2));
    return;
  }
  const { problems, planned, sound } = await checkAll(files, options, context);
  const wrong = !sound || planned === 0;
  if (options.json === true) context.print(JSON.stringify({ problems: problemsAsJson(problems), planned }));
  else {
    if (problems.length > 0) context.complain(problemReport(problems));
    context.print(
      problems.length === 0
        ? `No problems. ${counted(planned, 'case')}; nothing was sent.`
        : `${counted(problems.length, 'problem')}.`,
    );
  }
  context.exit(wrong ? exitCodes.badInput : exitCodes.passed);
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[config...]', 'config files, patterns or folders (default: the one in this folder)')
    .option('-c, --config <paths...>', 'the same as the arguments')
    .option('--schema', 'print the JSON Schema for editors instead')
    .addHelpText(
      'before',
      'Examples:\n  parlane check\n  parlane check -c evals/*.yaml --json\n  parlane check --schema\n',
    )
    .action((files: readonly string[], options: CheckOptions) => run(files, options, context));
}
