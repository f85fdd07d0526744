import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleLanes, sampleRun } from '../../../test/support/sample-run.ts';
import { liveFrame } from './live-frame.ts';
import { liveState, reduceLive } from './live-state.ts';
import { textWidth } from './text-width.ts';

/** Made by scripts/capture-terminal.ts from a real terminal. */
const screenOf = (columns: number): string[] =>
  readFileSync(join(import.meta.dirname, `golden/tmux-${columns}.txt`), 'utf8')
    .trimEnd()
    .split('\n');

describe('the live view in tmux', () => {
  it.each([
    [80, 24],
    [160, 40],
  ])('was on the screen of %i x %i exactly as it is drawn here, below the line that was there', (width, height) => {
    const state = liveState();
    for (const event of sampleRun({ lanes: sampleLanes })) {
      if (state.startedAt !== 0 && event.at > state.startedAt + 72_000) break;
      reduceLive(state, event);
    }
    state.now = state.startedAt + 72_000;
    const frame = liveFrame({ state, width, height, title: 'refund-bot', keys: true });
    const screen = screenOf(width);
    expect(screen).toEqual(['$ parlane run', ...frame.map((line) => line.trimEnd())]);
    for (const line of screen) expect(textWidth(line)).toBeLessThanOrEqual(width);
  });
});
