import { existsSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { editorSchema } from '../../config/schema.ts';
import { ParlaneError } from '../../domain/errors.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { defaultStoreFolder } from '../../store/open-store.ts';
import type { CliContext } from '../cli-context.ts';
import { nearestTo } from '../nearest-word.ts';
import { type Template, type TemplateFile, templateFiles, templates } from '../templates.ts';

interface InitOptions {
  readonly template?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const schemaFile = 'parlane.schema.json';
const ignored = `${defaultStoreFolder}/`;

function templateNamed(name: string): Template {
  const found = templates.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = templates.map((one) => one.name);
  const near = nearestTo(name, names);
  throw new ParlaneError(
    'init/unknown-template',
    `There is no template "${name}".`,
    near === undefined ? `Known: ${names.join(', ')}.` : `Did you mean "${near}"?`,
  );
}

/** The template to write; undefined when the person changed their mind. */
async function chooseTemplate(
  named: string | undefined,
  options: InitOptions,
  context: CliContext,
): Promise<Template | undefined> {
  if (named !== undefined && options.template !== undefined && named !== options.template)
    throw new ParlaneError(
      'cli/conflict',
      `"${named}" and --template ${options.template} exclude each other.`,
      'Keep one.',
    );
  const name = named ?? options.template;
  if (name !== undefined) return templateNamed(name);
  const asks = context.terminal.isTTY && options.yes !== true && options.json !== true && process.stdin.isTTY === true;
  if (!asks) return templates[0];
  const { isCancel, select } = await import('@clack/prompts');
  const answer = await select({
    message: 'What do you want to test?',
    options: templates.map((one) => ({ value: one, label: one.name, hint: one.about })),
  });
  return isCancel(answer) ? undefined : answer;
}

/** Refuses before anything is written. */
function refuseOverwriting(files: readonly TemplateFile[], context: CliContext): void {
  const there = files.map(({ path }) => path).filter((path) => existsSync(join(context.cwd, path)));
  if (there.length === 0) return;
  const many = there.length === 1 ? `${there[0]} is` : `${there.slice(0, 4).join(', ')} are`;
  throw new ParlaneError('init/exists', `${many} already here, and nothing was written.`, 'Go to an empty folder.', {
    files: there,
  });
}

async function writeFiles(files: readonly TemplateFile[], context: CliContext): Promise<void> {
  for (const { path, text } of files) {
    const file = join(context.cwd, path);
    makeFolder(dirname(file));
    // Written only where nothing is, also when somebody else was faster.
    await writeFile(file, text, { flag: 'wx' });
  }
}

/** True when an entry was added. */
async function ignoreStore(context: CliContext): Promise<boolean> {
  const file = join(context.cwd, '.gitignore');
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  if (text.split(/\r?\n/).some((line) => line.trim().replace(/^\//, '').replace(/\/$/, '') === defaultStoreFolder))
    return false;
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${ignored}\n`);
  return true;
}

/** Top files one by one, folders with what is in them. */
function createdLines(files: readonly TemplateFile[], template: Template, addedIgnore: boolean): string[] {
  const line = (name: string, about: string): string => `  created  ${name.padEnd(22)} ${about}`.trimEnd();
  const about: Readonly<Record<string, string>> = {
    'parlane.yaml': template.holds,
    [schemaFile]: 'what editors complete and check parlane.yaml with',
    'scenarios.yaml': 'what the simulated clients want',
  };
  const top = files.filter(({ path }) => !path.includes('/'));
  const folders = Map.groupBy(
    files.filter(({ path }) => path.includes('/')),
    ({ path }) => path.slice(0, path.indexOf('/') + 1),
  );
  return [
    ...top.map(({ path }) => line(path, about[path] ?? '')),
    ...[...folders].map(([folder, inside]) =>
      line(folder, inside.map(({ path }) => path.slice(folder.length)).join(', ')),
    ),
    ...(addedIgnore ? [line('.gitignore entry', ignored)] : []),
  ];
}

async function init(named: string | undefined, options: InitOptions, context: CliContext): Promise<void> {
  const template = await chooseTemplate(named, options, context);
  if (template === undefined) {
    context.complain('Nothing was written.');
    return;
  }
  const schema = { path: schemaFile, text: `${JSON.stringify(editorSchema(), null, 2)}\n` };
  const files = [...templateFiles(template.name), schema];
  refuseOverwriting(files, context);
  await writeFiles(files, context);
  const addedIgnore = await ignoreStore(context);
  if (options.json === true) {
    const created = [...files.map(({ path }) => path), ...(addedIgnore ? ['.gitignore'] : [])];
    context.print(JSON.stringify({ template: template.name, folder: context.cwd, created }));
    return;
  }
  context.print('No account, no API key: this project uses simulated models that live inside the tool.\n');
  context.print(createdLines(files, template, addedIgnore).join('\n'));
  context.print('\nNext:  npx parlane run');
}

export function define(command: Command, context: CliContext): void {
  const names = templates.map(({ name }) => name);
  command
    .argument('[template]', `${names.join(', ')} (${names[0]} unless told)`)
    .addOption(new Option('--template <name>', 'the same'))
    .option('-y, --yes', 'ask nothing')
    .addHelpText('before', 'Examples:\n  parlane init\n  parlane init agents\n  parlane init --yes --json\n')
    .addHelpText(
      'after',
      `\nTemplates:\n${templates.map(({ name, about }) => `  ${name.padEnd(8)} ${about}`).join('\n')}`,
    )
    .action((named: string | undefined, options: InitOptions) => init(named, options, context));
}
