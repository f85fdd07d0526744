/** An error as one clear message: for people, or with `--json` for programs; a stack only with `--debug`. */
import { ConfigError } from '../config/loading.ts';
import { problemReport } from '../config/problem-report.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { CliContext } from './cli-context.ts';
import { exitCodeOfError } from './exit-code.ts';

export interface ErrorStyle {
  readonly json: boolean;
  readonly debug: boolean;
}

const asJson = (error: unknown): string => {
  const { code, what, cure, fields } =
    error instanceof ParlaneError
      ? error
      : { code: 'bug/unexpected', what: String(error), cure: 'Run the same command with --debug.', fields: {} };
  return JSON.stringify({ error: { code, message: what, cure, fields } });
};

const asText = (error: unknown, debug: boolean): string => {
  if (debug && error instanceof Error) return error.stack ?? error.message;
  if (error instanceof ConfigError) {
    return `${problemReport(error.problems)}\n${error.message} Nothing was run, nothing was spent.`;
  }
  if (error instanceof ParlaneError) return error.message;
  const what = error instanceof Error ? error.message : String(error);
  return `${what}\nThis is a bug in Parlane. Run the same command with --debug to see where.`;
};

export function reportError(error: unknown, context: CliContext, style: ErrorStyle): void {
  if (style.json) context.print(asJson(error));
  else context.complain(asText(error, style.debug));
  context.exit(exitCodeOfError(error));
}
