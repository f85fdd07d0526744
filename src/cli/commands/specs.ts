import { resolve } from 'node:path';
import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import { problemText } from '../../domain/problem.ts';
import { realFiles } from '../../platform/files.ts';
import { parseSource, strictJson } from '../../prompts/source-document.ts';
import { PromptSpecificationManager, problemsError } from '../../prompts/specification-manager.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-code.ts';
import { readNamedFile } from '../read-scenarios.ts';

interface SpecsOptions {
  readonly specs?: string;
  readonly json?: boolean;
}

interface Asked {
  readonly manager: PromptSpecificationManager;
  readonly context: CliContext;
  readonly json: boolean;
}

const wanted = (name: string | undefined, what: string): string => {
  if (name !== undefined) return name;
  throw new ParlaneError('cli/missing-argument', `Which ${what}?`, 'See "parlane specs --help".');
};

/** What a file holds, for create and update. */
async function contentOf(context: CliContext, file: string | undefined) {
  const path = wanted(file, 'file');
  const document = parseSource(path, await readNamedFile(context, path), strictJson);
  if (document.problems.length > 0) throw problemsError(`${path} cannot be used.`, document.problems);
  return document.value ?? null;
}

async function list({ manager, context, json }: Asked): Promise<void> {
  const entries = await manager.list();
  if (json) context.print(JSON.stringify({ specifications: entries }));
  else
    for (const { name, file, shipped } of entries)
      context.print(`${name.padEnd(24)} ${shipped ? 'shipped with Parlane' : file}`);
}

async function show({ manager, context, json }: Asked, name: string): Promise<void> {
  const found = await manager.get(name);
  context.print(json ? JSON.stringify(found) : found.text.trimEnd());
}

async function check({ manager, context, json }: Asked, name: string): Promise<void> {
  const { snapshot, problems } = await manager.validate(name);
  if (json)
    context.print(JSON.stringify({ name, valid: problems.length === 0, hash: snapshot?.hash ?? null, problems }));
  else if (snapshot !== undefined)
    context.print(
      `${name}  ok  ${Object.keys(snapshot.specification.agents).join(', ')}  ${snapshot.hash.slice(0, 12)}`,
    );
  else for (const problem of problems) context.complain(problemText(problem));
  if (problems.length > 0) context.exit(exitCodes.badInput);
}

async function specs(
  action: string,
  first: string | undefined,
  second: string | undefined,
  options: SpecsOptions,
  context: CliContext,
): Promise<void> {
  const manager = new PromptSpecificationManager(realFiles, resolve(context.cwd, options.specs ?? 'prompts'));
  const asked = { manager, context, json: options.json === true };
  const done = (entry: object, words: string): void => context.print(asked.json ? JSON.stringify(entry) : words);
  switch (action) {
    case 'list':
      return list(asked);
    case 'show':
      return show(asked, wanted(first, 'specification'));
    case 'check':
      return check(asked, wanted(first, 'specification'));
    case 'create': {
      const entry = await manager.create(wanted(first, 'name'), await contentOf(context, second));
      return done(entry, `created ${entry.file}`);
    }
    case 'update': {
      const entry = await manager.update(wanted(first, 'specification'), await contentOf(context, second));
      return done(entry, `updated ${entry.file}`);
    }
    case 'duplicate': {
      const entry = await manager.duplicate(wanted(first, 'specification'), wanted(second, 'new name'));
      return done(entry, `created ${entry.file}`);
    }
    case 'delete': {
      const name = wanted(first, 'specification');
      await manager.delete(name);
      return done({ deleted: name }, `deleted ${name}`);
    }
    default:
      throw new ParlaneError(
        'cli/bad-action',
        `"${action}" cannot be done with specifications.`,
        'It is one of list, show, check, create, update, duplicate, delete.',
        { action },
      );
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[action]', 'list, show, check, create, update, duplicate or delete', 'list')
    .argument('[name]', 'the specification')
    .argument('[other]', 'the file to create or update from, or the name of the copy')
    .option('--specs <folder>', 'where specifications are (default: prompts)')
    .addHelpText(
      'before',
      'Examples:\n  parlane specs\n  parlane specs check order_desk\n  parlane specs duplicate order_desk my_desk\n',
    )
    .action((action: string, first: string | undefined, second: string | undefined, options: SpecsOptions) =>
      specs(action, first, second, options, context),
    );
}
