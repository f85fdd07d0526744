import { type Command, Option } from 'commander';
import { assertNever } from '../../domain/errors.ts';
import type { CliContext } from '../cli-context.ts';
import { writeOutput } from '../output-file.ts';

interface SchemaOptions {
  readonly of: 'config' | 'result';
  readonly output?: string;
}

async function schemaOf(of: SchemaOptions['of']): Promise<object> {
  switch (of) {
    case 'config':
      return (await import('../../config/schema.ts')).editorSchema();
    case 'result':
      return (await import('../../conversation/result-schema.ts')).conversationResultSchema;
    default:
      return assertNever(of);
  }
}

async function schema(options: SchemaOptions, context: CliContext): Promise<void> {
  const text = `${JSON.stringify(await schemaOf(options.of), null, 2)}\n`;
  const file = await writeOutput(options.output, context, async (sink) => void (await sink.write(text)));
  if (file !== undefined) context.complain(`Written: ${file.path}`);
}

export function define(command: Command, context: CliContext): void {
  command
    .addOption(new Option('--of <what>', 'of what').choices(['config', 'result']).default('config'))
    .option('-o, --output <file>', 'into a file instead of standard output')
    .addHelpText(
      'before',
      'Examples:\n  parlane schema -o parlane.schema.json\n  parlane schema --of result\n  parlane schema | jq .properties\n',
    )
    .action((options: SchemaOptions) => schema(options, context));
}
