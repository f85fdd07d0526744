import { describe, expect, it } from 'vitest';
import { caseIndex, laneKey } from '../../domain/ids.ts';
import { initialControls, pressKey } from './keymap.ts';

const [a, b] = [laneKey('a'), laneKey('b')];
const around = {
  lanes: [
    { key: a, paused: false },
    { key: b, paused: true },
  ],
  lastFailure: caseIndex(4),
};

describe('the keys', () => {
  it('choose a lane before they act on one, so that nothing unseen is paused', () => {
    const first = pressKey(initialControls, 'p', around);
    expect(first.command).toBeUndefined();
    expect(first.controls.selected).toBe(a);
    expect(pressKey(first.controls, 'p', around).command).toEqual({ kind: 'pause-lane', lane: a });
    expect(pressKey({ ...initialControls, selected: b }, 'p', around).command).toEqual({
      kind: 'resume-lane',
      lane: b,
    });
  });

  it('act at once when there is only one lane', () => {
    const one = { ...around, lanes: [{ key: a, paused: false }] };
    expect(pressKey(initialControls, '+', one).command).toEqual({ kind: 'change-limit', lane: a, by: 1 });
  });

  it('go round the lanes in both directions', () => {
    const up = pressKey(initialControls, '\u001b[A', around).controls;
    expect(up.selected).toBe(b);
    expect(pressKey(up, '\u001b[B', around).controls.selected).toBe(a);
  });

  it('open and close the panels', () => {
    const open = pressKey(initialControls, 'f', around).controls;
    expect(open.panel).toBe('failures');
    expect(pressKey(open, '?', around).controls.panel).toBe('help');
    expect(pressKey(open, 'f', around).controls.panel).toBe('none');
  });

  it('stop and save first, stop now the second time, also by Ctrl-C', () => {
    const once = pressKey(initialControls, 'q', around);
    expect(once.command).toEqual({ kind: 'stop' });
    expect(pressKey(once.controls, '\u0003', around).command).toEqual({ kind: 'stop-now' });
  });

  it('open the last failure, and do nothing for keys they do not know', () => {
    expect(pressKey(initialControls, '\r', around).command).toEqual({ kind: 'open-case', index: 4 });
    expect(pressKey(initialControls, '\r', { ...around, lastFailure: undefined }).command).toBeUndefined();
    expect(pressKey(initialControls, 'z', around)).toEqual({ controls: initialControls });
  });
});
