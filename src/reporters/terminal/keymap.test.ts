import { describe, expect, it } from 'vitest';
import { type CaseIndex, caseIndex, laneKey } from '../../domain/ids.ts';
import {
  caseKeys,
  initialControls,
  type KeySurroundings,
  keyNames,
  keysIn,
  pressKey,
  type ViewControls,
  viewKeys,
} from './keymap.ts';
import { liveFrame } from './live-frame.ts';
import { liveState } from './live-state.ts';

const [a, b] = [laneKey('a'), laneKey('b')];
const indexes = (...all: number[]): CaseIndex[] => all.map(caseIndex);
const around: KeySurroundings = {
  lanes: [
    { key: a, paused: false },
    { key: b, paused: true },
  ],
  failures: indexes(4, 2),
  cases: indexes(7, 8, 6, 4),
  running: 2,
  scroll: { top: 20, most: 40, page: 10 },
};
const nothing: KeySurroundings = { ...around, failures: [], cases: [], running: 0 };
const [up, down] = ['\u001b[A', '\u001b[B'];

/** The view after these keys, one after the other. */
const typed = (keys: string, from: ViewControls = initialControls, beside = around): ViewControls =>
  keysIn(keys).reduce((controls, key) => pressKey(controls, key, beside).controls, from);
const opened: ViewControls = { ...initialControls, opened: { index: caseIndex(4), unfold: false, top: 20 } };

describe('the keys', () => {
  it('of several lanes ask for one to be chosen, so that nothing unseen is paused', () => {
    const first = pressKey(initialControls, 'p', around);
    expect(first).toEqual({ controls: { ...initialControls, hint: 'choose a lane with up/down, then p' } });
    expect(typed('f-').hint).toBe('close the list with esc, choose a lane with up/down, then -');
    expect(typed(`p${down}`)).toMatchObject({ selected: a, hint: undefined });
    expect(pressKey(typed(`p${down}`), 'p', around).command).toEqual({ kind: 'pause-lane', lane: a });
    const onB = { ...initialControls, selected: b };
    expect(pressKey(onB, 'p', around).command).toEqual({ kind: 'resume-lane', lane: b });
  });

  it('act at once when there is only one lane', () => {
    const one = { ...around, lanes: [{ key: a, paused: false }] };
    expect(pressKey(initialControls, 'p', one).command).toEqual({ kind: 'pause-lane', lane: a });
    expect(pressKey(initialControls, '+', one).command).toEqual({ kind: 'change-limit', lane: a, by: 1 });
  });

  it('go round the lanes in both directions', () => {
    expect(typed(up).selected).toBe(b);
    expect(typed(up + down).selected).toBe(a);
  });

  it('open and close the lists', () => {
    expect(typed('f').panel).toBe('failures');
    expect(typed('f?').panel).toBe('help');
    expect(typed('ff').panel).toBe('none');
    expect(typed('l\u001b').panel).toBe('none');
  });

  it('choose a case in a list, stop at its ends, and leave the lanes alone', () => {
    expect(typed('f').marked).toBe(4);
    expect(typed('fj')).toMatchObject({ marked: 2, selected: undefined });
    expect(typed('fjj').marked).toBe(2);
    expect(typed('fjkk').marked).toBe(4);
    expect(typed(`c${down}${down}`).marked).toBe(6);
  });

  it('open the marked case; one that has left the list is the first again', () => {
    expect(typed('cj\r').opened).toMatchObject({ index: 8 });
    expect(typed('\r', { ...typed('c'), marked: caseIndex(99) }).opened).toMatchObject({ index: 7 });
    expect(typed('c\r', initialControls, nothing).opened).toBeUndefined();
  });

  it('open, without a list, the last failure, and where there is none the case that has run longest', () => {
    expect(typed('\r').opened).toEqual({ index: 4, unfold: false, top: 0 });
    const passing = { ...around, failures: [] };
    expect(typed('\r', initialControls, passing).opened).toMatchObject({ index: 7, top: Number.POSITIVE_INFINITY });
    expect(typed('\r', initialControls, nothing)).toEqual(initialControls);
  });

  it('scroll an open case by lines and pages, and follow its end from there on', () => {
    expect(typed(down, opened).opened?.top).toBe(21);
    expect(typed('b', opened).opened?.top).toBe(10);
    expect(typed('\u001b[5~', opened, { ...around, scroll: { ...around.scroll, top: 3 } }).opened?.top).toBe(0);
    expect(typed(' ', opened, { ...around, scroll: { ...around.scroll, top: 30 } }).opened?.top).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it('close an open case with enter or esc and come back to the list it was opened from', () => {
    for (const close of ['\r', '\u001b'])
      expect(typed(`f\r${close}`)).toMatchObject({ opened: undefined, panel: 'failures', marked: 4 });
  });

  it('stop and save first, stop now the second time, also by Ctrl-C and over an open case', () => {
    for (const from of [initialControls, opened]) {
      const once = pressKey(from, 'q', around);
      expect(once.command).toEqual({ kind: 'stop' });
      expect(pressKey(once.controls, '\u0003', around).command).toEqual({ kind: 'stop-now' });
    }
  });

  it('are told apart when several come at once', () => {
    expect(keysIn('f\u001b[B\u001bOAj\r\u001b')).toEqual(['f', '\u001b[B', '\u001bOA', 'j', '\r', '\u001b']);
    expect(keysIn('\u001b[5~ü👍')).toEqual(['\u001b[5~', 'ü', '👍']);
  });
});

describe('the help', () => {
  const help = liveFrame({ state: liveState(), width: 80, height: 24, keys: true, panel: 'help' });
  /** Where each key has something to do. */
  const starts: Readonly<Record<string, ViewControls>> = {
    '\u001b': typed('f'),
    '\u001b[A': typed('fj'),
    k: typed('fj'),
  };
  const modes = [
    { bindings: viewKeys, from: (key: string) => starts[key] ?? initialControls },
    { bindings: caseKeys, from: () => opened },
  ];
  const acts = (key: string, from: ViewControls): boolean => {
    const { controls, command } = pressKey(from, key, around);
    return command !== undefined || JSON.stringify(controls) !== JSON.stringify(from);
  };

  it('fits the smallest screen and names every key that works, with what it does', () => {
    const text = help.join('\n');
    const cells = text.split(/ {2,}|\n/);
    for (const binding of [...viewKeys, ...caseKeys]) {
      const at = cells.findIndex((cell, place) => cell === keyNames(binding) && cells[place + 1] === binding.does);
      const tight = text.includes(`${keyNames(binding)} ${binding.does}`);
      expect(at >= 0 || tight, `${keyNames(binding)}: ${binding.does}`).toBe(true);
    }
    expect(help.at(-1)).toContain('[q]');
    expect(text).toContain('in an open case:');
  });

  it('names no key that does nothing', () => {
    for (const { bindings, from } of modes)
      for (const { keys, does } of bindings)
        for (const key of keys) expect(acts(key, from(key)), `${JSON.stringify(key)}: ${does}`).toBe(true);
  });

  it('leaves out no key that does something', () => {
    const others = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
    const sequences = [...'ABCDEFGHPQRS'].flatMap((end) => [`\u001b[${end}`, `\u001bO${end}`]);
    const numbered = Array.from({ length: 30 }, (_, code) => `\u001b[${code}~`);
    for (const { bindings, from } of modes) {
      const named = new Set(bindings.flatMap(({ keys }) => keys));
      for (const key of [...others, ...sequences, ...numbered])
        if (!named.has(key)) expect(acts(key, from(key)), JSON.stringify(key)).toBe(false);
    }
  });

  it('and the line of keys agree', () => {
    const lineOf = (opening: object): string =>
      liveFrame({ state: liveState(), width: 160, height: 24, keys: true, ...opening }).at(-1) ?? '';
    const brackets = (line: string): string[] =>
      [...line.matchAll(/\[([^\]]+)\]/g)].flatMap(([, names = '']) => names.split('/'));
    const names = (bindings: typeof viewKeys): string[] => bindings.flatMap((one) => keyNames(one).split(' '));
    expect(names(viewKeys)).toEqual(expect.arrayContaining(brackets(lineOf({}))));
    expect(names(caseKeys)).toEqual(expect.arrayContaining(brackets(lineOf({ opened: { lines: ['x'], top: 0 } }))));
    expect(brackets(lineOf({})).length).toBeGreaterThan(6);
  });
});
