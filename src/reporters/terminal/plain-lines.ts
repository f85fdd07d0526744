import type { EpochMillis, LaneKey } from '../../domain/ids.ts';
import { clock, money } from '../../domain/measures.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { laneLabel } from '../lane-label.ts';
import type { RunObserver, TextSink, Ticker } from '../observer.ts';
import type { LaneMode, LiveLane } from './live-lane.ts';
import { type LiveState, liveState, reduceLive } from './live-state.ts';
import { singleLine } from './text-width.ts';
import { type ExpectedWork, laneTimeLeft, runTimeLeft } from './time-left.ts';

/** The live view for logs: one line every 30 seconds and whenever a lane's state changes. */
export interface PlainOptions {
  readonly sink: TextSink;
  readonly ticker: Ticker;
  readonly labels?: Readonly<Record<string, string>>;
  readonly expectedWork?: ExpectedWork;
  readonly everyMs?: number;
}

const noWork: ExpectedWork = new Map();
/** Changes that come faster than this share a line. */
const gatherMs = 1000;

const two = (value: number): string => String(value).padStart(2, '0');
const stamp = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `[${two(Math.floor(seconds / 60))}:${two(seconds % 60)}]`;
};

function laneWords(state: LiveState, lane: LiveLane, expected: ExpectedWork): string {
  const wait = Math.max(0, Math.ceil((lane.blockedUntil - state.now) / 1000));
  switch (lane.mode) {
    case 'closed':
      return `closed (${singleLine(lane.reason)})`;
    case 'parked':
      return `parked ${clock(lane.blockedUntil - state.now)} (${singleLine(lane.reason)})`;
    case 'paused':
      return 'paused';
    case 'blocked':
      if (wait > 0) return `blocked ${wait}s (429)`;
      break;
    case 'running':
      break;
  }
  const left = laneTimeLeft(state, lane, expected);
  const idle = lane.inFlight === 0 && lane.queued === 0;
  if (idle) return left === 0 ? 'done' : 'idle';
  return left === undefined ? `${lane.ended} calls` : `${clock(left)} left`;
}

/** `[01:12] 421/780  ok 398 fail 21 err 2  | openai 0:49 left | anthropic blocked 17s (429) | ~2:06 left | $1.84` */
function plainLine(
  state: LiveState,
  labels: Readonly<Record<string, string>> = {},
  expected: ExpectedWork = noWork,
): string {
  const lanes = [...state.lanes.values()].map(
    (lane) => `${laneLabel(lane.key, labels)} ${laneWords(state, lane, expected)}`,
  );
  const left = runTimeLeft(state, expected);
  const parts = [
    `${state.completed}/${state.planned}  ok ${state.passed} fail ${state.failed} err ${state.errors} `,
    ...lanes.slice(0, 12),
    ...(lanes.length > 12 ? [`and ${lanes.length - 12} more lanes`] : []),
    ...(left === undefined || state.complete !== undefined ? [] : [`~${clock(left)} left`]),
    state.unknownPrices > 0 ? `${money(state.usdMicros)} + unknown` : money(state.usdMicros),
  ];
  return `${stamp(state.now - state.startedAt)} ${parts.join(' | ')}`;
}

const isNews = (event: RunEvent): boolean => event.type.startsWith('lane-') || event.type === 'call-start';

export function plainReporter(options: PlainOptions): RunObserver {
  const state = liveState();
  const modes = new Map<LaneKey, LaneMode>();
  const everyMs = options.everyMs ?? 30_000;
  let lastLineAt: EpochMillis = options.ticker.now();
  let changed = false;
  const print = (now: EpochMillis): void => {
    lastLineAt = now;
    changed = false;
    options.sink.write(`${plainLine(state, options.labels, options.expectedWork)}\n`);
  };
  const printIfDue = (now: EpochMillis): void => {
    const since = now - lastLineAt;
    if (since >= everyMs || (changed && since >= gatherMs)) print(now);
  };
  const noteModes = (lane: LaneKey): void => {
    const mode = state.lanes.get(lane)?.mode ?? 'running';
    if ((modes.get(lane) ?? 'running') !== mode) changed = true;
    modes.set(lane, mode);
  };
  const stop = options.ticker.every(1000, () => {
    const now = options.ticker.now();
    if (state.startedAt === 0 || state.complete !== undefined) return;
    if (now > state.now) state.now = now;
    printIfDue(now);
  });
  return {
    observe(event) {
      reduceLive(state, event);
      if (event.type === 'run-start') lastLineAt = event.at;
      if (isNews(event) && 'lane' in event) {
        noteModes(event.lane);
        if (changed) printIfDue(event.at);
      }
      if (event.type === 'warning')
        options.sink.write(`${stamp(event.at - state.startedAt)} warning: ${singleLine(event.message)}\n`);
    },
    async finish() {
      stop();
      if (state.startedAt !== 0) print(state.now);
    },
  };
}
