import type { Command } from 'commander';
import { loadSuite } from '../../config/load-suite.ts';
import { ConfigError } from '../../config/loading.ts';
import { problemReport, problemsAsJson } from '../../config/problem-report.ts';
import { editorSchema } from '../../config/schema.ts';
import type { Problem } from '../../domain/problem.ts';
import { realClock } from '../../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../../platform/code-runner.ts';
import { configFiles, shownPath } from '../../platform/config-files.ts';
import { createHttpClient } from '../../providers/http-client.ts';
import { unusedVariables } from '../../run/check-variables.ts';
import { variablePlaces } from '../../run/place-variable.ts';
import { planEval } from '../../run/plan-eval.ts';
import { projectBatches } from '../../run/project-conversations.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-code.ts';
import { providerProblems } from '../place-provider-error.ts';

interface CheckOptions {
  readonly config?: readonly string[];
  readonly json?: boolean;
  readonly schema?: boolean;
}

interface Checked {
  readonly problems: readonly Problem[];
  readonly planned: number;
}

async function checkAll(options: CheckOptions, context: CliContext): Promise<Checked> {
  const code = createCodeRunner({ env: scrubbedEnvironment(context.env), cwd: context.cwd });
  const http = createHttpClient({ clock: realClock });
  const { signal } = new AbortController();
  try {
    const shown = (path: string): string => shownPath(path, context.cwd);
    const { suite, configs } = await loadSuite({
      files: configFiles,
      code,
      env: context.env,
      cwd: context.cwd,
      configs: options.config ?? [],
      shown,
      strict: true,
    });
    const surroundings = {
      clock: realClock,
      env: { ...context.env, ...suite.env },
      basePath: suite.folder,
      http,
      code,
    };
    const unknown = await providerProblems(suite, configs, surroundings, context);
    if (unknown.length > 0) return { problems: unknown, planned: 0 };
    const batches = await projectBatches(suite, undefined);
    const conversations = batches.reduce((sum, { scenarios, repeat = 1 }) => sum + scenarios.length * repeat, 0);
    // Without a provider there is nothing but conversations.
    if (suite.providers.length === 0) return { problems: [], planned: conversations };
    const plan = await planEval(suite, { files: configFiles, code, signal });
    const problems = await unusedVariables(suite, await variablePlaces(configs, configFiles, shown));
    return { problems, planned: plan.planned + conversations };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems, planned: 0 };
    throw error;
  } finally {
    await Promise.all([code.close(), http.close()]);
  }
}

async function run(options: CheckOptions, context: CliContext): Promise<void> {
  if (options.schema === true) {
    context.print(JSON.stringify(editorSchema(), null, 2));
    return;
  }
  const { problems, planned } = await checkAll(options, context);
  const wrong = problems.some(({ severity }) => severity !== 'warning') || planned === 0;
  if (options.json === true) context.print(JSON.stringify({ problems: problemsAsJson(problems), planned }));
  else {
    if (problems.length > 0) context.complain(problemReport(problems));
    context.print(
      problems.length === 0
        ? `No problems. ${planned} cases; nothing was sent.`
        : `${problems.length} problem${problems.length === 1 ? '' : 's'}.`,
    );
  }
  context.exit(wrong ? exitCodes.badInput : exitCodes.passed);
}

export function define(command: Command, context: CliContext): void {
  command
    .option('-c, --config <paths...>', 'config files, patterns or folders (default: the one in this folder)')
    .option('--schema', 'print the JSON Schema for editors instead')
    .addHelpText(
      'before',
      'Examples:\n  parlane check\n  parlane check -c evals/*.yaml --json\n  parlane check --schema\n',
    )
    .action((options: CheckOptions) => run(options, context));
}
