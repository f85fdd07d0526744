import type { LaneSnapshot } from '../../domain/lane.ts';
import type { RunObserver, TextSink, Ticker } from '../observer.ts';
import { type CaseReader, caseDesk } from './case-desk.ts';
import { caseRoom, caseScroll, frameHeight, type ShownCase } from './case-panel.ts';
import { initialControls, type KeyCommand, type KeySurroundings, keysIn, pressKey } from './keymap.ts';
import { type FrameInput, liveFrame } from './live-frame.ts';
import { type LiveState, liveState, reduceLive } from './live-state.ts';
import { painter } from './painter.ts';
import { listedCases } from './panels.ts';
import { singleLine } from './text-width.ts';

type DrawnByKeys = 'selected' | 'panel' | 'marked' | 'opened' | 'stopping' | 'keys';

export interface LiveOptions extends Omit<FrameInput, 'state' | 'snapshots' | 'width' | 'height' | DrawnByKeys> {
  readonly sink: TextSink;
  readonly ticker: Ticker;
  /** Asked before every frame: terminals are resized. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** The lanes as they are right now; absent, the view goes by the events. */
  readonly snapshots?: () => readonly LaneSnapshot[];
  /** Absent: there is no keyboard. */
  readonly keys?: LiveKeys;
}

/** What keys need of the world. */
export interface LiveKeys {
  /** Does what a key asks of the run. */
  obey(command: KeyCommand): void;
  /** Reads a case that somebody opens. */
  readonly readCase: CaseReader;
}

export interface LiveReporter extends RunObserver {
  /** What somebody typed in the terminal in raw mode: one key or several. */
  press(typed: string): void;
  /** Says something above the view, where it stays. */
  say(text: string): void;
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
  const desk = caseDesk(options.keys?.readCase, () => {
    dirty = true;
  });
  const shownCase = (): ShownCase | undefined =>
    controls.opened === undefined ? undefined : { lines: desk.lines(), top: controls.opened.top };
  const draw = (): void => {
    const { columns, rows } = options.size();
    const opened = shownCase();
    screen.paint(
      liveFrame({
        ...options,
        state,
        snapshots: options.snapshots?.() ?? [],
        width: columns,
        height: rows,
        keys: options.keys !== undefined,
        ...(controls.selected === undefined ? {} : { selected: controls.selected }),
        panel: controls.panel,
        ...(controls.marked === undefined ? {} : { marked: controls.marked }),
        ...(opened === undefined ? {} : { opened }),
        ...(controls.hint === undefined ? {} : { hint: controls.hint }),
        stopping: controls.stopping,
      }),
    );
    dirty = false;
  };
  const around = (): KeySurroundings => {
    const room = caseRoom(frameHeight(options.size().rows), state.lanes.size);
    return {
      lanes: [...state.lanes.values()].map((lane) => ({ key: lane.key, paused: lane.mode === 'paused' })),
      ...listedCases(state),
      scroll: caseScroll(shownCase() ?? { lines: [], top: 0 }, room),
    };
  };
  const look = (): void => desk.look(controls.opened, options.size().columns);
  const stop = options.ticker.every(frameMs, () => {
    if (state.startedAt === 0 || state.complete !== undefined) return;
    const now = options.ticker.now();
    if (now > state.now) state.now = now;
    const second = Math.floor(state.now / 1000);
    if (second !== drawnSecond) look();
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
    press(typed) {
      for (const key of keysIn(typed)) {
        const result = pressKey(controls, key, around());
        controls = result.controls;
        if (result.command !== undefined) options.keys?.obey(result.command);
      }
      look();
      dirty = true;
    },
    say: (text) => screen.printAbove([singleLine(text)]),
    async finish() {
      stop();
      await desk.settled();
      screen.clear();
    },
  };
}
