/** How people watch a run: a live view on a terminal, plain lines without one, events as lines of JSON for programs. */
import type { Forecast } from '../domain/forecast.ts';
import type { LaneKey } from '../domain/ids.ts';
import type { LaneSnapshot } from '../domain/lane.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { realTicker } from '../platform/ticker.ts';
import { jsonEvents } from '../reporters/json/json-events.ts';
import type { RunObserver } from '../reporters/observer.ts';
import type { KeyCommand } from '../reporters/terminal/keymap.ts';
import { liveReporter } from '../reporters/terminal/live-reporter.ts';
import { type LiveState, liveState, reduceLive } from '../reporters/terminal/live-state.ts';
import { plainReporter } from '../reporters/terminal/plain-lines.ts';
import { type Style, styleFor } from '../reporters/terminal/style.ts';
import type { Lanes } from '../run/lanes.ts';
import type { CliContext } from './cli-context.ts';

export interface WatchOptions {
  readonly title: string;
  /** A view where there is a terminal, plain lines, events as lines of JSON, or nothing at all. */
  readonly show: 'view' | 'plain' | 'events' | 'nothing';
  readonly forecast?: Forecast;
  /** The lanes of the run, once it has begun. */
  readonly lanes: () => Lanes | undefined;
  readonly onStop: () => void;
}

export interface Watch {
  readonly observe: (event: RunEvent) => void;
  readonly state: LiveState;
  readonly style: Style;
  readonly width: number;
  finish(): Promise<void>;
}

export const styleOf = (context: CliContext): Style =>
  styleFor({ isTTY: context.screen !== undefined, env: context.env });

export function watchRun(context: CliContext, options: WatchOptions): Watch {
  const state = liveState();
  const style = styleOf(context);
  const { observer, unkey } = watching(context, options, style);
  return {
    state,
    style,
    width: context.screen?.columns() ?? 80,
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
  const expected = new Map<LaneKey, number>(options.forecast?.lanes.map(({ lane, calls }) => [lane, calls.likely]));
  if (screen === undefined || options.show === 'plain') {
    const sink = { write: (text: string) => context.complain(text.trimEnd()) };
    return { observer: plainReporter({ sink, ticker: realTicker, expectedCalls: expected }), unkey: () => {} };
  }
  const live = liveReporter({
    title: options.title,
    style,
    sink: screen,
    ticker: realTicker,
    size: () => ({ columns: screen.columns(), rows: screen.rows() }),
    snapshots: (): readonly LaneSnapshot[] => options.lanes()?.snapshot() ?? [],
    expectedCalls: expected,
    ...(options.forecast?.costUsdMicros ? { expectedUsdMicros: options.forecast.costUsdMicros.likely } : {}),
    ...(screen.keys === undefined ? {} : { onCommand: (command) => obey(command, options) }),
  });
  return { observer: live, unkey: screen.keys?.((key) => live.press(key)) ?? (() => {}) };
}

/** What a key asks for. The limit that + and - change is the number of calls in flight. */
function obey(command: KeyCommand, { lanes, onStop }: WatchOptions): void {
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
    case 'open-case':
    case 'open-browser':
      return undefined;
  }
}
