import type { LaneSnapshot } from '../../domain/lane.ts';
import type { RunObserver, TextSink, Ticker } from '../observer.ts';
import { initialControls, type KeyCommand, pressKey } from './keymap.ts';
import { type FrameInput, liveFrame } from './live-frame.ts';
import { type LiveState, liveState, reduceLive } from './live-state.ts';
import { painter } from './painter.ts';

export interface LiveOptions
  extends Omit<FrameInput, 'state' | 'snapshots' | 'width' | 'height' | 'selected' | 'panel' | 'stopping'> {
  readonly sink: TextSink;
  readonly ticker: Ticker;
  /** Asked before every frame: terminals are resized. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** The lanes as they are right now; absent, the view goes by the events. */
  readonly snapshots?: () => readonly LaneSnapshot[];
  /** What keys ask for; absent, there are no keys. */
  readonly onCommand?: (command: KeyCommand) => void;
}

export interface LiveReporter extends RunObserver {
  /** One key press from the terminal in raw mode. */
  press(key: string): void;
  readonly state: LiveState;
}

/** At most ten frames a second. */
const frameMs = 100;

/** The live view on a terminal. Events are counted as they come; drawing happens on the ticker alone. */
export function liveReporter(options: LiveOptions): LiveReporter {
  const state = liveState();
  const screen = painter(options.sink);
  let controls = initialControls;
  let dirty = false;
  let drawnSecond = -1;
  const draw = (): void => {
    const { columns, rows } = options.size();
    screen.paint(
      liveFrame({
        ...options,
        state,
        snapshots: options.snapshots?.() ?? [],
        width: columns,
        height: rows,
        keys: options.onCommand !== undefined,
        ...(controls.selected === undefined ? {} : { selected: controls.selected }),
        panel: controls.panel,
        stopping: controls.stopping,
      }),
    );
    dirty = false;
  };
  const stop = options.ticker.every(frameMs, () => {
    if (state.startedAt === 0 || state.complete !== undefined) return;
    const now = options.ticker.now();
    if (now > state.now) state.now = now;
    const second = Math.floor(state.now / 1000);
    if (!dirty && second === drawnSecond) return;
    drawnSecond = second;
    draw();
  });
  return {
    state,
    observe(event) {
      reduceLive(state, event);
      dirty = true;
    },
    press(key) {
      const lanes = [...state.lanes.values()].map((lane) => ({ key: lane.key, paused: lane.mode === 'paused' }));
      const result = pressKey(controls, key, { lanes, lastFailure: state.failures.at(-1)?.index });
      controls = result.controls;
      dirty = true;
      if (result.command !== undefined) options.onCommand?.(result.command);
    },
    async finish() {
      stop();
      screen.clear();
    },
  };
}
