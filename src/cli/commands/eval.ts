/** `parlane eval`: a promptfoo config, unchanged. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { loadSuite } from '../../config/load-suite.ts';
import { ConfigError } from '../../config/loading.ts';
import { problemReport, problemsAsJson } from '../../config/problem-report.ts';
import { ParlaneError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Suite } from '../../domain/suite.ts';
import { BadFilter } from '../../plan/filter-tests.ts';
import { realClock } from '../../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../../platform/code-runner.ts';
import { configFiles, shownPath } from '../../platform/config-files.ts';
import { createHttpClient } from '../../providers/http-client.ts';
import { type EvalOutcome, evaluate } from '../../run/evaluate.ts';
import { defaultStoreFolder, openStore } from '../../store/open-store.ts';
import { openResponseCache } from '../../store/response-cache.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-code.ts';
import { chooseRun } from '../open-project-store.ts';
import { placed } from '../place-provider-error.ts';
import { listenForStop, playWatched, showFor } from '../play-watched.ts';
import { addEvalFlags, type EvalFlags, overridesOf, settingsOf } from './eval-options.ts';
import { writeOutputs } from './eval-outputs.ts';
import { evalTable } from './eval-table.ts';

function environment(flags: EvalFlags, context: CliContext): CliContext['env'] {
  if (flags.envFile === undefined) return context.env;
  return { ...parseEnv(readFileSync(resolve(context.cwd, flags.envFile), 'utf8')), ...context.env };
}

/** Errors count against the pass rate like failures, as in promptfoo. */
function exitCode({ outcome, totals }: EvalOutcome, env: CliContext['env']): number {
  if (!outcome.complete) return exitCodes.incomplete;
  const wanted = Number(env['PROMPTFOO_PASS_RATE_THRESHOLD'] ?? 100);
  const rate = (totals.passed / Math.max(1, totals.planned)) * 100;
  if (rate >= wanted) return exitCodes.passed;
  const own = Number(env['PROMPTFOO_FAILED_TEST_EXIT_CODE']);
  return Number.isInteger(own) && own > 0 ? own : exitCodes.failed;
}

const totalsLine = ({ outcome, totals }: EvalOutcome): string => {
  const counts = `${totals.planned} cases: ${totals.passed} passed, ${totals.failed} failed, ${totals.errors} errors`;
  if (outcome.complete) return counts;
  return `${counts}, ${totals.aborted} open\nStopped (${outcome.stopReason}). Go on with: parlane resume ${outcome.run}`;
};

const storeFolder = (flags: EvalFlags, context: CliContext): string =>
  resolve(context.cwd, flags.store ?? defaultStoreFolder);

/** What the suite was made from, for a resume of a run that died before its plan was recorded. */
const sourceOf = (configs: readonly string[], flags: EvalFlags, context: CliContext): JsonObject => ({
  configs: [...configs],
  overrides: overridesOf(flags, context.cwd) as unknown as JsonObject,
  settings: JSON.parse(JSON.stringify(settingsOf(flags))) as JsonObject,
});

interface Session {
  readonly flags: EvalFlags;
  readonly context: CliContext;
  readonly env: CliContext['env'];
  readonly store: Store;
}

async function play(suite: Suite, configs: readonly string[], session: Session): Promise<EvalOutcome> {
  const { flags, context, env, store } = session;
  const code = createCodeRunner({ env: scrubbedEnvironment(env, suite.env), cwd: suite.folder });
  const http = createHttpClient({ clock: realClock });
  const startedAt = realClock.now();
  using interrupt = listenForStop(context);
  try {
    const resumed = flags.resume === undefined ? undefined : await resumable(store, flags.resume);
    const watched = {
      title: suite.description ?? 'eval',
      show: flags.progressBar === false ? ('nothing' as const) : showFor(flags),
      ...(flags.write === false ? {} : { folder: storeFolder(flags, context) }),
    };
    const { result } = await playWatched(context, watched, interrupt, (stage) =>
      evaluate(suite, {
        ...settingsOf(flags),
        store,
        clock: realClock,
        files: configFiles,
        code,
        http,
        env,
        abortSignal: stage.signal,
        ...stage,
        ...(flags.write === false || flags.cache === false
          ? {}
          : {
              responseCache: openResponseCache({
                folder: join(storeFolder(flags, context), 'cache'),
                now: realClock.now,
              }),
            }),
        source: sourceOf(configs, flags, context),
        ...(resumed === undefined ? {} : { resume: resumed }),
        ...(flags.budget === undefined ? {} : { budgetUsd: Number(flags.budget) }),
      }),
    );
    await tell(result, suite, session, startedAt);
    return result;
  } finally {
    await Promise.all([http.close(), code.close()]);
  }
}

const resumable = async (store: Store, name: string | true) =>
  (await chooseRun(store, name === true || name === 'latest' ? undefined : name, ({ status }) => status !== 'complete'))
    .id;

async function tell(result: EvalOutcome, suite: Suite, { flags, context }: Session, startedAt: number): Promise<void> {
  for (const path of suite.outputPath)
    await writeOutputs(resolve(context.cwd, path), result, suite, { startedAt, now: realClock.now() });
  if (flags.json === true) {
    context.print(
      JSON.stringify({ run: result.outcome.run, totals: result.totals, complete: result.outcome.complete }),
    );
    return;
  }
  if (flags.table !== false) for (const line of await evalTable(result)) context.print(line);
  context.print(totalsLine(result));
  for (const path of suite.outputPath) context.print(`Written: ${path}`);
}

async function run(flags: EvalFlags, context: CliContext): Promise<void> {
  const env = environment(flags, context);
  const loader = createCodeRunner({ env: scrubbedEnvironment(env), cwd: context.cwd });
  let loaded: Awaited<ReturnType<typeof loadSuite>>;
  try {
    loaded = await loadSuite({
      files: configFiles,
      code: loader,
      env,
      cwd: context.cwd,
      configs: flags.config ?? [],
      overrides: overridesOf(flags, context.cwd),
      shown: (path) => shownPath(path, context.cwd),
      strict: flags.strict === true,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (flags.json === true) context.print(JSON.stringify({ problems: problemsAsJson(error.problems) }));
    else context.complain(problemReport(error.problems));
    context.exit(exitCodes.badInput);
    return;
  } finally {
    await loader.close();
  }
  if (loaded.warnings.length > 0 && flags.json !== true) context.complain(problemReport(loaded.warnings));
  const at = flags.write === false ? ':memory:' : storeFolder(flags, context);
  const store = await openStore({ at });
  try {
    const result = await play(loaded.suite, loaded.configs, { flags, context, env, store });
    context.exit(exitCode(result, env));
  } catch (error) {
    if (!(error instanceof BadFilter)) throw await placed(error, loaded.configs, context);
    throw new ParlaneError('cli/bad-option', `${error.message}.`, 'See parlane eval --help.', { option: error.option });
  } finally {
    await store.close();
  }
}

export function define(command: Command, context: CliContext): void {
  addEvalFlags(command)
    .addHelpText(
      'before',
      'Examples:\n  parlane eval\n  parlane eval -c promptfooconfig.yaml -o results.json -o report.html\n  parlane eval --filter-first-n 5 --repeat 3 --budget 2\n',
    )
    .action((flags: EvalFlags) => run(flags, context));
}
