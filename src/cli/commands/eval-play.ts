/** An eval from the terminal: played, told, written, and what the process ends with. */

import { join, resolve } from 'node:path';
import { caseNumber } from '../../domain/ids.ts';
import { counted, money } from '../../domain/measures.ts';
import { shownStatus } from '../../domain/row.ts';
import { cancelledOf, type RunEvent } from '../../domain/run-event.ts';
import type { Suite } from '../../domain/suite.ts';
import { realClock } from '../../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../../platform/code-runner.ts';
import { configFiles } from '../../platform/config-files.ts';
import { createHttpClient } from '../../providers/http-client.ts';
import { wrap } from '../../reporters/terminal/text-width.ts';
import type { EvalSettings } from '../../run/eval-settings.ts';
import { type EvalOutcome, evaluate } from '../../run/evaluate.ts';
import { openResponseCache } from '../../store/response-cache.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { isComparable } from '../compare-stored-runs.ts';
import { exitCodes } from '../exit-code.ts';
import { listenForStop, playWatched, showFor } from '../play-watched.ts';
import { suggested } from '../suggested-command.ts';
import { closeness, stopCause } from '../tell-run.ts';
import { cellWidth, type EvalFlags } from './eval-options.ts';
import { writeOutputs } from './eval-outputs.ts';
import { type Continued, sourceOf } from './eval-past.ts';
import { evalTable, metricLines } from './eval-table.ts';

export interface EvalSession {
  readonly flags: EvalFlags;
  readonly context: CliContext;
  readonly env: CliContext['env'];
  readonly store: Store;
  readonly folder: string;
  readonly settings: EvalSettings;
  /** The run to go on with. */
  readonly past: Continued | undefined;
  readonly configs: readonly string[];
}

/** Widest cells of the table and of metrics on a terminal; in a pipe or a file nothing is cut. */
const terminalCell = 60;
const terminalMetric = 40;

/** A line for every row, for those who ask for it. */
const rowLines =
  (say: (text: string) => void) =>
  (event: RunEvent): void => {
    if (event.type !== 'case-end' || event.row.provisional === true) return;
    const { completed, total, row } = event;
    say(`${completed} of ${total}: #${caseNumber(row.index)} ${shownStatus(row)} in ${row.latencyMs} ms`);
  };

/** Errors count against the pass rate like failures, as in promptfoo. */
export function evalExitCode({ outcome, totals }: EvalOutcome, env: CliContext['env']): number {
  if (!outcome.complete) return exitCodes.incomplete;
  const wanted = Number.parseFloat(env['PROMPTFOO_PASS_RATE_THRESHOLD'] ?? '');
  const rate = (totals.passed / Math.max(1, totals.planned)) * 100;
  if (rate >= (Number.isFinite(wanted) ? wanted : 100)) return exitCodes.passed;
  const own = Number.parseInt(env['PROMPTFOO_FAILED_TEST_EXIT_CODE'] ?? '', 10);
  return own >= 0 && own <= 255 ? own : exitCodes.failed;
}

const cacheWords = (cached: number): string =>
  `${counted(cached, 'answer')} came from the cache and cost nothing; --no-cache asks again.`;

/** The numbers of an eval, each thing on a line of its own. */
function totalsLines({ outcome, totals }: EvalOutcome, cached: number): string[] {
  const { usdMicros, unknown } = outcome.spent;
  const cost = unknown > 0 ? 'price unknown' : money(usdMicros);
  const cancelled = cancelledOf(totals) > 0 ? `, ${cancelledOf(totals)} cancelled` : '';
  const counts = `${counted(totals.planned, 'case')}: ${totals.passed} passed, ${totals.failed} failed, ${counted(totals.errors, 'error')}${cancelled}`;
  const fromCache = cached === 0 ? [] : [cacheWords(cached)];
  if (outcome.complete) return [`${counts}   ${cost}`, ...fromCache, ...closeness(outcome)];
  const stopped = `Stopped (${stopCause(outcome)}).`;
  const goOn = `Go on with: parlane eval --resume ${outcome.run}`;
  return [`${counts}, ${totals.open ?? 0} open   ${cost}`, ...fromCache, stopped, goOn];
}

/** The case that needs looking at first. */
async function firstBad(result: EvalOutcome): Promise<number | undefined> {
  if (result.totals.failed + result.totals.errors === 0) return undefined;
  for await (const { row } of result.rows())
    if (row.status === 'failed' || row.status === 'error') return caseNumber(row.index);
  return undefined;
}

/** What one can do with an eval that is kept. */
async function nextSteps(result: EvalOutcome, { store, folder, context }: EvalSession): Promise<string[]> {
  const { run, complete } = result.outcome;
  const bad = await firstBad(result);
  const steps: [string, string][] = [];
  if (bad !== undefined) steps.push(['Look closer', `show ${bad}`]);
  steps.push(['Report', `export ${run} --format html`]);
  if (complete && result.totals.errors > 0) steps.push(['Errors again', 'eval --retry-errors']);
  if (complete && (await isComparable(store, run))) steps.push(['Compare', 'compare']);
  return [...steps.map(([what, how]) => `${what.padEnd(14)}${suggested(how, folder, context.cwd)}`), `run ${run}`];
}

/** Plays the suite and tells how it went. */
export async function play(suite: Suite, session: EvalSession): Promise<EvalOutcome> {
  const { flags, context, env, store, folder, settings, past } = session;
  const code = createCodeRunner({ env: scrubbedEnvironment(env, suite.env), cwd: suite.folder });
  const http = createHttpClient({ clock: realClock });
  const startedAt = realClock.now();
  const keeps = flags.write !== false && flags.cache !== false;
  const watched = {
    title: suite.description ?? 'eval',
    store,
    show: flags.progressBar === false ? ('nothing' as const) : showFor(flags),
    ...(flags.write === false ? {} : { folder }),
  };
  using interrupt = listenForStop(context);
  try {
    const { result } = await playWatched(context, watched, interrupt, (stage) =>
      evaluate(suite, {
        ...settings,
        store,
        files: configFiles,
        code,
        http,
        env,
        abortSignal: stage.signal,
        ...stage,
        observers: flags.verbose === true ? [...stage.observers, rowLines(stage.say)] : stage.observers,
        outputs: suite.outputPath,
        source: sourceOf(session.configs, flags, context.cwd),
        ...(keeps ? { responseCache: openResponseCache({ folder: join(folder, 'cache'), now: realClock.now }) } : {}),
        ...(past === undefined ? {} : { resume: past.run, retryErrors: past.retryErrors }),
        ...(flags.budget === undefined ? {} : { budgetUsd: Number(flags.budget) }),
      }),
    );
    await tell(result, suite, session, startedAt);
    return result;
  } finally {
    await Promise.all([http.close(), code.close()]);
  }
}

async function tell(result: EvalOutcome, suite: Suite, session: EvalSession, startedAt: number): Promise<void> {
  const { flags, context } = session;
  for (const path of suite.outputPath)
    await writeOutputs(resolve(context.cwd, path), result, suite, { startedAt, now: realClock.now() });
  if (flags.json === true) {
    const { run, complete, spent, efficiency } = result.outcome;
    const { cached } = await result.numbers();
    const told = { run, totals: result.totals, complete, spent, cached, efficiency };
    context.print(JSON.stringify(told));
    return;
  }
  const { isTTY, columns } = context.terminal;
  const width = isTTY ? columns : Number.POSITIVE_INFINITY;
  const table = { cell: cellWidth(flags) ?? (isTTY ? terminalCell : width), width };
  if (flags.table !== false) for (const line of await evalTable(result, table)) context.print(line);
  const { prompts, cached } = await result.numbers();
  const metrics = metricLines(prompts, { cell: isTTY ? terminalMetric : width, width });
  for (const line of metrics) context.print(line);
  const totals = totalsLines(result, cached);
  context.print(totals.flatMap((line) => wrap(line, width)).join('\n'));
  for (const path of suite.outputPath) context.print(`Written: ${path}`);
  if (flags.write !== false) context.print((await nextSteps(result, session)).join('\n'));
}
