/**
 * What the keys of the live view mean.
 *
 * Job: `(controls, key, surroundings) -> controls and a command`, from one table that the help is made of as well, so that
 * the help names every key that works and no other. Not its job: drawing, reading cases, acting on a run.
 *
 * 1. A key acts on what the screen marks or tells of and on nothing else; of several lanes one must have been chosen.
 * 2. Stopping works whatever is open.
 */
import type { CaseIndex, LaneKey } from '../../domain/ids.ts';

/** The lists below the lanes. */
export type Panel = 'none' | 'failures' | 'cases' | 'log' | 'help';

/** A case that is open above the lanes. */
export interface OpenCase {
  readonly index: CaseIndex;
  /** Tool calls with their whole arguments and results. */
  readonly unfold: boolean;
  /** Lines scrolled away; `Infinity` stays at the end while the case grows. */
  readonly top: number;
}

/** What the keys have changed about the view, and what they act on. */
export interface ViewControls {
  readonly selected: LaneKey | undefined;
  readonly panel: Panel;
  /** The case that the open list marks. */
  readonly marked: CaseIndex | undefined;
  readonly opened: OpenCase | undefined;
  readonly stopping: boolean;
  /** Instead of the line of keys until the next one: what is missing for the last one. */
  readonly hint: string | undefined;
}

/** What a key asks of the run. */
export type KeyCommand =
  | { readonly kind: 'pause-lane' | 'resume-lane'; readonly lane: LaneKey }
  | { readonly kind: 'change-limit'; readonly lane: LaneKey; readonly by: 1 | -1 }
  | { readonly kind: 'open-report' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'stop-now' };

/** What the keys need to know of the run and of the screen. */
export interface KeySurroundings {
  readonly lanes: readonly { readonly key: LaneKey; readonly paused: boolean }[];
  /** As listed: the latest first. */
  readonly failures: readonly CaseIndex[];
  /** As listed: running ones, the oldest first, then those that ended, the latest first. */
  readonly cases: readonly CaseIndex[];
  /** How many of `cases` are running. */
  readonly running: number;
  /** Of the open case: lines scrolled away, how many can be at most, and lines shown at a time. */
  readonly scroll: { readonly top: number; readonly most: number; readonly page: number };
}

export interface KeyResult {
  readonly controls: ViewControls;
  readonly command?: KeyCommand;
}

/** Keys that do the same, what they are called, and what they do. */
export interface KeyBinding {
  readonly keys: readonly string[];
  readonly does: string;
  readonly act: (controls: ViewControls, around: KeySurroundings) => KeyResult;
}

export const initialControls: ViewControls = {
  selected: undefined,
  panel: 'none',
  marked: undefined,
  opened: undefined,
  stopping: false,
  hint: undefined,
};

const up = ['\u001b[A', '\u001bOA', 'k'];
const down = ['\u001b[B', '\u001bOB', 'j'];
const enter = ['\r', '\n'];
const esc = '\u001b';

const names: Readonly<Record<string, string>> = {
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  '\u001b[5~': 'pgup',
  '\u001b[6~': 'pgdn',
  '\u001b': 'esc',
  '\r': 'enter',
  '\n': 'enter',
  ' ': 'space',
  '\u0003': 'ctrl-c',
};

/** `up k`: what people find on their keyboards. */
export const keyNames = ({ keys }: KeyBinding): string => [...new Set(keys.map((key) => names[key] ?? key))].join(' ');

/** The keys in what a terminal sent at once: people type faster than programs read. */
export const keysIn = (typed: string): string[] => typed.match(/\u001b\[[0-9;]*[A-Za-z~]|\u001bO[A-Z]|[\s\S]/gu) ?? [];

/** The open list's cases; undefined where no list of cases is open. */
function listOf({ panel }: ViewControls, around: KeySurroundings): readonly CaseIndex[] | undefined {
  return panel === 'failures' ? around.failures : panel === 'cases' ? around.cases : undefined;
}

/** The marked one while it is in the list, else the first. */
export const markedIn = (list: readonly CaseIndex[], marked: CaseIndex | undefined): CaseIndex | undefined =>
  marked !== undefined && list.includes(marked) ? marked : list[0];

function chooseLane(controls: ViewControls, { lanes }: KeySurroundings, by: 1 | -1): KeyResult {
  if (lanes.length === 0) return { controls };
  const at = lanes.findIndex(({ key }) => key === controls.selected);
  const next = at < 0 ? (by > 0 ? 0 : lanes.length - 1) : (at + by + lanes.length) % lanes.length;
  return { controls: { ...controls, selected: lanes[next]?.key } };
}

const listPlace = (list: readonly CaseIndex[], marked: CaseIndex | undefined): number => {
  const found = markedIn(list, marked);
  return found === undefined ? -1 : list.indexOf(found);
};

function move(controls: ViewControls, around: KeySurroundings, by: 1 | -1): KeyResult {
  const list = listOf(controls, around);
  if (list === undefined) return chooseLane(controls, around, by);
  const at = listPlace(list, controls.marked);
  return { controls: { ...controls, marked: list[Math.max(0, Math.min(list.length - 1, at + by))] } };
}

function toggle(controls: ViewControls, around: KeySurroundings, wanted: Panel): KeyResult {
  const next: ViewControls = { ...controls, panel: controls.panel === wanted ? 'none' : wanted };
  return { controls: { ...next, marked: listOf(next, around)?.[0] } };
}

/** How to choose a lane: the arrows move in an open list of cases. */
const howToChoose = (controls: ViewControls, around: KeySurroundings, key: string): string =>
  `${listOf(controls, around) === undefined ? '' : 'close the list with esc, '}choose a lane with up/down, then ${key}`;

function onLane(
  key: string,
  controls: ViewControls,
  around: KeySurroundings,
  command: (lane: { key: LaneKey; paused: boolean }) => KeyCommand,
): KeyResult {
  const lane =
    around.lanes.find(({ key }) => key === controls.selected) ??
    (around.lanes.length === 1 ? around.lanes[0] : undefined);
  if (lane !== undefined) return { controls, command: command(lane) };
  if (around.lanes.length === 0) return { controls };
  return { controls: { ...controls, hint: howToChoose(controls, around, key) } };
}

/** The marked case; without a list the one that the view tells of: the last failure, else the first of all. */
function openCase(controls: ViewControls, around: KeySurroundings): KeyResult {
  const list = listOf(controls, around) ?? [...around.failures.slice(0, 1), ...around.cases];
  const index = markedIn(list, controls.marked);
  if (index === undefined) return { controls };
  const running = around.cases.slice(0, around.running).includes(index);
  return { controls: { ...controls, opened: { index, unfold: false, top: running ? Number.POSITIVE_INFINITY : 0 } } };
}

function scroll(controls: ViewControls, { scroll: at }: KeySurroundings, by: number): KeyResult {
  if (controls.opened === undefined) return { controls };
  const top = Math.max(0, at.top + by);
  const opened = { ...controls.opened, top: top >= at.most && by > 0 ? Number.POSITIVE_INFINITY : top };
  return { controls: { ...controls, opened } };
}

function unfold(controls: ViewControls): KeyResult {
  const { opened } = controls;
  return { controls: opened === undefined ? controls : { ...controls, opened: { ...opened, unfold: !opened.unfold } } };
}

const stop: KeyBinding = {
  keys: ['q', '\u0003'],
  does: 'stop and save; again: now',
  act: (controls) => ({
    controls: { ...controls, stopping: true },
    command: { kind: controls.stopping ? 'stop-now' : 'stop' },
  }),
};

/** The keys of the view. */
export const viewKeys: readonly KeyBinding[] = [
  { keys: up, does: 'lane above, or case above', act: (controls, around) => move(controls, around, -1) },
  { keys: down, does: 'lane below, or case below', act: (controls, around) => move(controls, around, 1) },
  {
    keys: ['p'],
    does: 'pause chosen lane, or go on',
    act: (controls, around) =>
      onLane('p', controls, around, ({ key: lane, paused }) => ({ kind: paused ? 'resume-lane' : 'pause-lane', lane })),
  },
  {
    keys: ['+', '='],
    does: 'raise its limit',
    act: (controls, around) =>
      onLane('+', controls, around, ({ key: lane }) => ({ kind: 'change-limit', lane, by: 1 })),
  },
  {
    keys: ['-'],
    does: 'lower its limit',
    act: (controls, around) =>
      onLane('-', controls, around, ({ key: lane }) => ({ kind: 'change-limit', lane, by: -1 })),
  },
  { keys: ['f'], does: 'list the failures', act: (controls, around) => toggle(controls, around, 'failures') },
  { keys: ['c'], does: 'list the cases', act: (controls, around) => toggle(controls, around, 'cases') },
  { keys: enter, does: 'open case, or last failure', act: openCase },
  { keys: ['l'], does: 'log of warnings', act: (controls, around) => toggle(controls, around, 'log') },
  {
    keys: ['o'],
    does: 'open the report so far',
    act: (controls) => ({ controls, command: { kind: 'open-report' } }),
  },
  {
    keys: [esc],
    does: 'close the list',
    act: (controls) => ({ controls: { ...controls, panel: 'none', marked: undefined } }),
  },
  { keys: ['?'], does: 'this help', act: (controls, around) => toggle(controls, around, 'help') },
  stop,
];

/** The keys while a case is open. */
export const caseKeys: readonly KeyBinding[] = [
  { keys: up, does: 'a line up', act: (controls, around) => scroll(controls, around, -1) },
  { keys: down, does: 'a line down', act: (controls, around) => scroll(controls, around, 1) },
  {
    keys: ['\u001b[5~', 'b'],
    does: 'a page up',
    act: (controls, around) => scroll(controls, around, -around.scroll.page),
  },
  {
    keys: ['\u001b[6~', ' '],
    does: 'a page down',
    act: (controls, around) => scroll(controls, around, around.scroll.page),
  },
  { keys: ['u'], does: 'unfold or fold the tools', act: unfold },
  {
    keys: [...enter, esc],
    does: 'close the case',
    act: (controls) => ({ controls: { ...controls, opened: undefined } }),
  },
  stop,
];

/** One key press: the new view, and what the run shall do. Other keys change nothing. */
export function pressKey(controls: ViewControls, key: string, around: KeySurroundings): KeyResult {
  const bindings = controls.opened === undefined ? viewKeys : caseKeys;
  const now = controls.hint === undefined ? controls : { ...controls, hint: undefined };
  return bindings.find(({ keys }) => keys.includes(key))?.act(now, around) ?? { controls: now };
}
