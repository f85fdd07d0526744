/** How people watch a run: a live view on a terminal, plain lines without one, events as lines of JSON for programs. */
import type { Forecast } from '../domain/forecast.ts';
import { type RunId, runId } from '../domain/ids.ts';
import type { LaneSnapshot } from '../domain/lane.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { realTicker } from '../platform/ticker.ts';
import { jsonEvents } from '../reporters/json/json-events.ts';
import type { RunObserver } from '../reporters/observer.ts';
import type { KeyCommand } from '../reporters/terminal/keymap.ts';
import { type LiveKeys, type LiveReporter, liveReporter } from '../reporters/terminal/live-reporter.ts';
import { type LiveState, liveState, reduceLive } from '../reporters/terminal/live-state.ts';
import { plainReporter } from '../reporters/terminal/plain-lines.ts';
import { type Style, styleFor } from '../reporters/terminal/style.ts';
import type { ExpectedWork } from '../reporters/terminal/time-left.ts';
import type { Lanes } from '../run/lanes.ts';
import type { Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';
import { openCaseReader } from './read-open-case.ts';

export interface WatchOptions {
  readonly title: string;
  /** A view where there is a terminal, plain lines, events as lines of JSON, or nothing at all. */
  readonly show: 'view' | 'plain' | 'events' | 'nothing';
  readonly forecast?: Forecast;
  /** What there is to do, for the time that is left. */
  readonly expected?: ExpectedWork;
  /** Where the run is kept: keys open its cases and its report. */
  readonly store: Store;
  /** The lanes of the run, once it has begun. */
  readonly lanes: () => Lanes | undefined;
  readonly onStop: () => void;
}

export interface Watch {
  readonly observe: (event: RunEvent) => void;
  readonly state: LiveState;
  /** Tells people something; in a live view above it, where it stays. */
  readonly say: (text: string) => void;
  finish(): Promise<void>;
}

const styleOf = (context: CliContext): Style => styleFor({ isTTY: context.screen !== undefined, env: context.env });

export function watchRun(context: CliContext, options: WatchOptions): Watch {
  const state = liveState();
  const style = styleOf(context);
  const { observer, unkey, say = context.complain } = watching(context, options, style);
  return {
    state,
    say,
    observe(event) {
      reduceLive(state, event);
      observer.observe(event);
    },
    async finish() {
      unkey();
      await observer.finish();
    },
  };
}

interface Watching {
  readonly observer: RunObserver;
  readonly unkey: () => void;
  readonly say?: (text: string) => void;
}

function watching(context: CliContext, options: WatchOptions, style: Style): Watching {
  switch (options.show) {
    case 'events':
      return jsonWatch(context);
    case 'nothing':
      return { observer: { observe: () => {}, finish: async () => {} }, unkey: () => {} };
    case 'view':
    case 'plain':
      return textWatch(context, options, style);
  }
}

const jsonWatch = (context: CliContext): Watching => ({
  observer: jsonEvents({ sink: { write: (text) => context.print(text.trimEnd()) } }),
  unkey: () => {},
});

function textWatch(context: CliContext, options: WatchOptions, style: Style): Watching {
  const { screen } = context;
  const expected = options.expected ?? new Map();
  if (screen === undefined || options.show === 'plain') {
    const sink = { write: (text: string) => context.complain(text.trimEnd()) };
    return { observer: plainReporter({ sink, ticker: realTicker, expectedWork: expected }), unkey: () => {} };
  }
  const { keys } = screen;
  const desk = keyDesk(context, options, style, () => live);
  const live = liveReporter({
    title: options.title,
    style,
    sink: screen,
    ticker: realTicker,
    size: () => ({ columns: screen.columns(), rows: screen.rows() }),
    snapshots: (): readonly LaneSnapshot[] => options.lanes()?.snapshot() ?? [],
    expectedWork: expected,
    ...(options.forecast?.costUsdMicros ? { expectedUsdMicros: options.forecast.costUsdMicros.likely } : {}),
    ...(keys === undefined ? {} : { keys: desk }),
  });
  const unkey = keys?.((typed) => live.press(typed)) ?? (() => {});
  return { observer: { observe: live.observe, finish: () => desk.done().then(live.finish) }, unkey, say: live.say };
}

interface KeyDesk extends LiveKeys {
  /** Resolves when what keys have begun is done. */
  done(): Promise<void>;
}

/** What keys do: to the lanes, to the run, and with what is kept of it. */
function keyDesk(context: CliContext, options: WatchOptions, style: Style, live: () => LiveReporter): KeyDesk {
  let report: Promise<void> | undefined;
  const run = (): RunId => runId(live().state.run);
  const writeReport = async (): Promise<void> => {
    try {
      const { openReport } = await import('./open-report.ts');
      live().say(await openReport(options.store, run(), context));
    } catch (cause) {
      live().say(`The report could not be written: ${cause instanceof Error ? cause.message : String(cause)}`);
    } finally {
      report = undefined;
    }
  };
  return {
    readCase: openCaseReader(options.store, run, style),
    obey: (command) => {
      if (command.kind !== 'open-report') obey(command, options);
      else report ??= writeReport();
    },
    done: async () => report,
  };
}

/** What a key asks of the run. The limit that + and - change is the number of calls in flight. */
function obey(command: Exclude<KeyCommand, { kind: 'open-report' }>, { lanes, onStop }: WatchOptions): void {
  const running = lanes();
  switch (command.kind) {
    case 'pause-lane':
      return running?.pause(command.lane);
    case 'resume-lane':
      return running?.resume(command.lane);
    case 'change-limit': {
      const now = running?.snapshot().find(({ key }) => key === command.lane)?.maxConcurrentConfig ?? 1;
      const step = Math.max(1, Math.round(now * 0.25));
      return running?.retune(command.lane, { maxConcurrent: Math.max(1, now + command.by * step) });
    }
    case 'stop':
    case 'stop-now':
      return onStop();
  }
}
