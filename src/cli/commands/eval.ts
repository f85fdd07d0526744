/** `parlane eval`: a promptfoo config, unchanged. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { type LoadedSuite, loadSuite } from '../../config/load-suite.ts';
import { ConfigError } from '../../config/loading.ts';
import { problemReport, problemsAsJson } from '../../config/problem-report.ts';
import { ParlaneError } from '../../domain/errors.ts';
import { counted } from '../../domain/measures.ts';
import type { Suite } from '../../domain/suite.ts';
import { BadFilter } from '../../plan/filter-tests.ts';
import { createCodeRunner, scrubbedEnvironment } from '../../platform/code-runner.ts';
import { configFiles, shownPath } from '../../platform/config-files.ts';
import { latencyWarnings } from '../../run/check-written.ts';
import { evalSettings } from '../../run/eval-settings.ts';
import { projectBatches } from '../../run/project-conversations.ts';
import { defaultStoreFolder, openStore } from '../../store/open-store.ts';
import { checkProject } from '../check-project.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-code.ts';
import { openWorkshop } from '../open-workshop.ts';
import { placed } from '../place-provider-error.ts';
import { wholeRefusal } from '../whole-refusal.ts';
import { decline } from './eval-declined.ts';
import { addEvalFlags, type EvalFlags, fromConfig, overridesOf, settingsOf, typedFlags } from './eval-options.ts';
import { checkOutputs } from './eval-outputs.ts';
import { type Continued, continued, earlierFilter, settleEarlier } from './eval-past.ts';
import { evalExitCode, play } from './eval-play.ts';

function environment(flags: EvalFlags, context: CliContext): CliContext['env'] {
  if (flags.envFile === undefined) return context.env;
  return { ...parseEnv(readFileSync(resolve(context.cwd, flags.envFile), 'utf8')), ...context.env };
}

/** The suite, or nothing after its problems were told. */
async function load(
  flags: EvalFlags,
  past: Continued | undefined,
  context: CliContext,
  env: CliContext['env'],
): Promise<LoadedSuite | undefined> {
  const code = createCodeRunner({ env: scrubbedEnvironment(env), cwd: context.cwd });
  try {
    return await loadSuite({
      files: configFiles,
      code,
      env,
      cwd: context.cwd,
      configs: flags.config ?? past?.configs ?? [],
      overrides: overridesOf(flags, context.cwd),
      shown: (path) => shownPath(path, context.cwd),
      strict: flags.strict === true,
    });
  } catch (error) {
    const refusal = await refusalOf(error, flags, past, { ...context, env });
    if (!(refusal instanceof ConfigError) || flags.json !== true) throw refusal;
    context.print(JSON.stringify({ problems: problemsAsJson(refusal.problems) }));
    context.exit(exitCodes.badInput);
    return undefined;
  } finally {
    await code.close();
  }
}

/** The error with everything else that is wrong with the config. */
async function refusalOf(
  error: unknown,
  flags: EvalFlags,
  past: Continued | undefined,
  context: CliContext,
): Promise<unknown> {
  if (!(error instanceof ConfigError)) return error;
  const workshop = openWorkshop(context);
  try {
    const configs = flags.config ?? past?.configs ?? [];
    return await wholeRefusal(error, () => checkProject(configs, workshop, context, overridesOf(flags, context.cwd)));
  } finally {
    await workshop.close();
  }
}

/** Whether an answer may come from an earlier eval. */
const answersFromCache = (flags: EvalFlags, suite: Suite, env: CliContext['env']): boolean =>
  flags.write !== false && flags.cache !== false && evalSettings(suite, {}, env).cache !== false;

/** An eval is promptfoo's: it has tests only, and what else the config has is not dropped without a word. */
async function warnOfConversations(suite: Suite, context: CliContext): Promise<void> {
  if (suite.conversations.length === 0) return;
  // Scenarios that cannot be read are told by whoever plays them.
  const batches = await projectBatches(suite, undefined).catch(() => []);
  const count = batches.reduce((sum, { scenarios, repeat = 1 }) => sum + scenarios.length * repeat, 0);
  const what = count === 0 ? 'The conversations' : counted(count, 'conversation');
  context.complain(
    `${what} of this config ${count === 1 ? 'is' : 'are'} not played: eval runs tests only; parlane run plays both.`,
  );
}

async function run(typed: EvalFlags, context: CliContext): Promise<void> {
  decline(typed, context);
  const past = await continued(typed, context);
  const asked: EvalFlags = { ...past?.flags, ...typed };
  const env = environment(asked, context);
  const loaded = await load(asked, past, context, env);
  if (loaded === undefined) return;
  if (loaded.warnings.length > 0 && asked.json !== true) context.complain(problemReport(loaded.warnings));
  await warnOfConversations(loaded.suite, context);
  const flags = await settleEarlier({ ...fromConfig(loaded.suite.commandLineOptions), ...asked }, context);
  const settings = settingsOf(asked, await earlierFilter(flags, loaded.suite.defaultTest, context));
  const late = answersFromCache(flags, loaded.suite, env) ? latencyWarnings(loaded.written) : [];
  if (late.length > 0 && asked.json !== true) context.complain(problemReport(late));
  checkOutputs(loaded.suite.outputPath, context.cwd);
  const folder = resolve(context.cwd, flags.store ?? defaultStoreFolder);
  const store = await openStore({ at: flags.write === false ? ':memory:' : folder });
  try {
    const session = { flags, context, env, store, folder, settings, past, configs: loaded.configs };
    context.exit(evalExitCode(await play(loaded.suite, session), env));
  } catch (error) {
    if (!(error instanceof BadFilter))
      throw await refusalOf(await placed(error, loaded, context), asked, past, { ...context, env });
    throw new ParlaneError('cli/bad-option', `${error.message}.`, 'See parlane eval --help.', { option: error.option });
  } finally {
    await store.close();
  }
}

export function define(command: Command, context: CliContext): void {
  addEvalFlags(command)
    .addHelpText(
      'before',
      'Examples:\n  parlane eval\n  parlane eval -c promptfooconfig.yaml -o results.json -o report.html\n  parlane eval --filter-failing latest\n',
    )
    .action((_flags: EvalFlags, typed: Command) => run(typedFlags(typed), context));
}
