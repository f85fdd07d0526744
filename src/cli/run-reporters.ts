/** What else watches a run beside the person: `--reporter`. */
import { appendFileSync } from 'node:fs';
import { githubAnnotations } from '../reporters/github/github-annotations.ts';
import type { RunObserver } from '../reporters/observer.ts';
import type { CliContext } from './cli-context.ts';
import type { WatchedOptions } from './play-watched.ts';

export const reporterNames = ['github', 'json', 'plain'] as const;
export type ReporterName = (typeof reporterNames)[number];

export interface ReporterFlags {
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly reporter?: ReporterName;
}

export interface Reporting {
  readonly show: WatchedOptions['show'];
  readonly reporters: readonly RunObserver[];
}

/** Annotations on standard output, where GitHub's runner reads them, and its summary of the step. */
function github(context: CliContext, config: string | undefined): RunObserver {
  const summary = context.env['GITHUB_STEP_SUMMARY'];
  return githubAnnotations({
    sink: { write: (text) => context.write(text) },
    ...(config === undefined ? {} : { file: config }),
    ...(summary === undefined || summary === '' ? {} : { summary: { write: (text) => appendFileSync(summary, text) } }),
  });
}

export function reportingOf(flags: ReporterFlags, context: CliContext, config: string | undefined): Reporting {
  if (flags.json === true || flags.reporter === 'json') return { show: 'events', reporters: [] };
  if (flags.reporter === 'github') return { show: 'plain', reporters: [github(context, config)] };
  return { show: flags.plain === true || flags.reporter === 'plain' ? 'plain' : 'view', reporters: [] };
}
