import type { CaseIndex, LaneKey } from '../../domain/ids.ts';

/** What the keys have changed about the view, and what they act on. */
export interface ViewControls {
  readonly selected: LaneKey | undefined;
  readonly panel: 'none' | 'failures' | 'help';
  readonly stopping: boolean;
}

/** What a key asks of the run. */
export type KeyCommand =
  | { readonly kind: 'pause-lane' | 'resume-lane'; readonly lane: LaneKey }
  | { readonly kind: 'change-limit'; readonly lane: LaneKey; readonly by: 1 | -1 }
  | { readonly kind: 'open-case'; readonly index: CaseIndex }
  | { readonly kind: 'open-browser' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'stop-now' };

/** What the keys need to know of the run. */
export interface KeySurroundings {
  readonly lanes: readonly { readonly key: LaneKey; readonly paused: boolean }[];
  readonly lastFailure: CaseIndex | undefined;
}

export interface KeyResult {
  readonly controls: ViewControls;
  readonly command?: KeyCommand;
}

export const initialControls: ViewControls = { selected: undefined, panel: 'none', stopping: false };

const interrupt = '\u0003';
const [arrowUp, arrowDown] = ['\u001b[A', '\u001b[B'];

function move(controls: ViewControls, around: KeySurroundings, by: number): KeyResult {
  const { lanes } = around;
  if (lanes.length === 0) return { controls };
  const at = lanes.findIndex(({ key }) => key === controls.selected);
  const next = at < 0 ? (by > 0 ? 0 : lanes.length - 1) : (at + by + lanes.length) % lanes.length;
  return { controls: { ...controls, selected: lanes[next]?.key } };
}

function toggle(controls: ViewControls, panel: 'failures' | 'help'): KeyResult {
  return { controls: { ...controls, panel: controls.panel === panel ? 'none' : panel } };
}

function stop(controls: ViewControls): KeyResult {
  const kind = controls.stopping ? 'stop-now' : 'stop';
  return { controls: { ...controls, stopping: true }, command: { kind } };
}

/** The lane that the keys mean: the chosen one, or the only one. */
function target(controls: ViewControls, around: KeySurroundings): KeySurroundings['lanes'][number] | undefined {
  return (
    around.lanes.find(({ key }) => key === controls.selected) ??
    (around.lanes.length === 1 ? around.lanes[0] : undefined)
  );
}

function onLane(
  controls: ViewControls,
  around: KeySurroundings,
  command: (lane: { key: LaneKey; paused: boolean }) => KeyCommand,
): KeyResult {
  const lane = target(controls, around);
  // Without a chosen lane the first press chooses one, so that no key acts on something the user did not see marked.
  return lane === undefined ? move(controls, around, 1) : { controls, command: command(lane) };
}

/** One key press: the new view, and what the run shall do. Unknown keys change nothing. */
export function pressKey(controls: ViewControls, key: string, around: KeySurroundings): KeyResult {
  switch (key) {
    case arrowDown:
    case 'j':
    case '\t':
      return move(controls, around, 1);
    case arrowUp:
    case 'k':
      return move(controls, around, -1);
    case 'p':
      return onLane(controls, around, ({ key: lane, paused }) => ({
        kind: paused ? 'resume-lane' : 'pause-lane',
        lane,
      }));
    case '+':
    case '=':
      return onLane(controls, around, ({ key: lane }) => ({ kind: 'change-limit', lane, by: 1 }));
    case '-':
      return onLane(controls, around, ({ key: lane }) => ({ kind: 'change-limit', lane, by: -1 }));
    case 'f':
      return toggle(controls, 'failures');
    case '?':
    case 'h':
      return toggle(controls, 'help');
    case '\r':
    case '\n':
      if (around.lastFailure === undefined) return { controls };
      return { controls, command: { kind: 'open-case', index: around.lastFailure } };
    case 'o':
      return { controls, command: { kind: 'open-browser' } };
    case 'q':
    case interrupt:
      return stop(controls);
    default:
      return { controls };
  }
}
