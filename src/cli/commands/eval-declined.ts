/** Flags of promptfoo that Parlane knows and does not have: said plainly instead of "unknown option". */
import type { Command } from 'commander';
import { Option } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { CliContext } from '../cli-context.ts';

interface Declined {
  readonly flags: string;
  readonly key: string;
  /** Why, and what to do instead. */
  readonly instead: string;
  /** Without it the eval is the same: it runs, with a warning. */
  readonly harmless?: true;
}

const declined: readonly Declined[] = [
  {
    flags: '--share',
    key: 'share',
    instead: 'Nothing was uploaded; send the file that -o report.html writes.',
    harmless: true,
  },
  {
    flags: '--remote',
    key: 'remote',
    instead: 'Graders are called directly: name one by --grader.',
  },
  {
    flags: '--suggest-prompts <n>',
    key: 'suggestPrompts',
    instead: 'Write the variants as prompts and compare their columns.',
  },
  {
    flags: '-w, --watch',
    key: 'watch',
    instead: 'Run it again after a change: answers that exist already are not paid again.',
  },
  {
    flags: '--interactive-providers',
    key: 'interactiveProviders',
    instead: 'Run it with -j 1.',
  },
];

/** The flags are understood and not shown in the help. */
export function addDeclinedFlags(command: Command): Command {
  for (const { flags } of declined) command.addOption(new Option(flags).hideHelp());
  return command.addOption(new Option('--no-share').hideHelp());
}

/** Refuses what cannot be done, warns about what is left out. */
export function decline(flags: object, context: CliContext): void {
  const given = flags as Readonly<Record<string, unknown>>;
  for (const { flags: name, key, instead, harmless } of declined) {
    if (given[key] === undefined || given[key] === false) continue;
    const what = `${name.replace(/ <.*/, '').replace(/^-\w, /, '')} is not part of Parlane.`;
    if (harmless === true) context.complain(`${what} ${instead}`);
    else throw new ParlaneError('cli/not-part', what, instead, { option: name });
  }
}
