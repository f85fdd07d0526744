import { describe, expect, it } from 'vitest';
import { sampleLanes, sampleRun } from '../../../test/support/sample-run.ts';
import { laneKey } from '../../domain/ids.ts';
import { type Ticker, textBuffer } from '../observer.ts';
import type { KeyCommand } from './keymap.ts';
import { liveFrame } from './live-frame.ts';
import { liveReporter } from './live-reporter.ts';
import { painter } from './painter.ts';
import { plainReporter } from './plain-lines.ts';

/** As much of a terminal as the painter uses: lines, a cursor, erasing, scrolling. */
function screen(rows: number) {
  let lines: string[] = Array.from({ length: rows }, () => '');
  const gone: string[] = [];
  let row = 0;
  let column = 0;
  const put = (character: string): void => {
    const line = (lines[row] ?? '').padEnd(column);
    lines[row] = line.slice(0, column) + character + line.slice(column + 1);
    column++;
  };
  const newLine = (): void => {
    column = 0;
    if (row < rows - 1) row++;
    else {
      gone.push(lines[0] ?? '');
      lines = [...lines.slice(1), ''];
    }
  };
  const control = (code: string, count: number): void => {
    if (code === 'A') row = Math.max(0, row - count);
    if (code === 'B') row = Math.min(rows - 1, row + count);
    if (code === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
    if (code === 'J') lines = lines.map((line, at) => (at < row ? line : at === row ? line.slice(0, column) : ''));
  };
  return {
    write(text: string) {
      for (const [, count, code, character] of text.matchAll(/\u001b\[\??([0-9;]*)([A-Za-z])|([\s\S])/gu)) {
        if (code !== undefined) control(code, Number(count || 1));
        else if (character === '\n') newLine();
        else if (character === '\r') column = 0;
        else put(character ?? '');
      }
    },
    text: () => [...gone, ...lines].join('\n').trimEnd(),
  };
}

function fakeTicker(): Ticker & { advance(ms: number): void } {
  let now = Date.UTC(2026, 10, 15, 10, 0, 0);
  const jobs: { every: number; next: number; fire: () => void }[] = [];
  return {
    now: () => now,
    every(ms, fire) {
      const job = { every: ms, next: now + ms, fire };
      jobs.push(job);
      return () => void jobs.splice(jobs.indexOf(job), 1);
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = jobs.filter(({ next }) => next <= until).sort((a, b) => a.next - b.next)[0];
        if (due === undefined) break;
        now = due.next;
        due.next += due.every;
        due.fire();
      }
      now = until;
    },
  };
}

describe('the painter', () => {
  it('shows exactly the latest frame below what was there before, growing and shrinking', () => {
    const terminal = screen(12);
    terminal.write('$ parlane run\n');
    const paint = painter(terminal);
    const frames = [['a', 'b', 'c'], ['a', 'B', 'c'], ['a', 'B', 'c', 'd', 'e'], ['x'], ['x', 'y'], ['x', 'y']];
    for (const lines of frames) {
      paint.paint(lines);
      expect(terminal.text()).toBe(['$ parlane run', ...lines].join('\n'));
    }
    paint.printAbove(['a note']);
    expect(terminal.text()).toBe('$ parlane run\na note\nx\ny');
    paint.clear();
    expect(terminal.text()).toBe('$ parlane run\na note');
  });

  it('keeps what was on the screen when the frame reaches the bottom and scrolls', () => {
    const terminal = screen(6);
    terminal.write('one\ntwo\nthree\n');
    const paint = painter(terminal);
    paint.paint(['a', 'b', 'c', 'd', 'e']);
    paint.paint(['a', 'b', 'C', 'd', 'E']);
    expect(terminal.text()).toBe('one\ntwo\nthree\na\nb\nC\nd\nE');
  });

  it('writes only the lines that changed, and nothing when none did', () => {
    const sink = textBuffer();
    const paint = painter(sink);
    paint.paint(['same', 'old', 'same too']);
    const before = sink.text().length;
    paint.paint(['same', 'new', 'same too']);
    const written = sink.text().slice(before);
    expect(written).toContain('new');
    expect(written).not.toContain('same');
    const after = sink.text().length;
    paint.paint(['same', 'new', 'same too']);
    expect(sink.text().length).toBe(after);
  });
});

describe('the live reporter', () => {
  it('draws at most ten times a second, whatever happens in between, and ends on the frame of the state', async () => {
    const terminal = screen(40);
    let writes = 0;
    const sink = {
      write(text: string) {
        writes++;
        terminal.write(text);
      },
    };
    const ticker = fakeTicker();
    const start = ticker.now();
    const reporter = liveReporter({ sink, ticker, size: () => ({ columns: 100, rows: 40 }), title: 't' });
    let events = 0;
    for (const event of sampleRun({ lanes: sampleLanes, startedAt: start })) {
      if (event.at > start + 60_000) break;
      if (event.at > ticker.now()) ticker.advance(event.at - ticker.now());
      reporter.observe(event);
      events++;
    }
    ticker.advance(start + 60_000 - ticker.now());
    expect(events).toBeGreaterThan(2_000);
    expect(writes).toBeLessThanOrEqual(600);
    expect(writes).toBeGreaterThan(100);
    const expected = liveFrame({ state: reporter.state, width: 100, height: 40, title: 't', keys: false });
    expect(
      terminal
        .text()
        .split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual(expected.map((line) => line.trimEnd()));
    await reporter.finish();
    expect(terminal.text()).toBe('');
  });

  it('passes on what the keys ask for', async () => {
    const commands: KeyCommand[] = [];
    const ticker = fakeTicker();
    const reporter = liveReporter({
      sink: textBuffer(),
      ticker,
      size: () => ({ columns: 80, rows: 24 }),
      onCommand: (command) => commands.push(command),
    });
    for (const event of sampleRun({ lanes: sampleLanes, startedAt: ticker.now() })) {
      if (event.at > ticker.now() + 10_000) break;
      reporter.observe(event);
    }
    for (const key of ['p', 'p', '\u001b[B', '+', '-', 'q', 'q']) reporter.press(key);
    expect(commands).toEqual([
      { kind: 'pause-lane', lane: laneKey('openai:gpt-5-mini:9f2c41d0') },
      { kind: 'change-limit', lane: laneKey('anthropic:sonnet:77aa01bc'), by: 1 },
      { kind: 'change-limit', lane: laneKey('anthropic:sonnet:77aa01bc'), by: -1 },
      { kind: 'stop' },
      { kind: 'stop-now' },
    ]);
    await reporter.finish();
  });
});

describe('the plain reporter', () => {
  it('writes a line every 30 seconds and whenever the state of a lane changes', async () => {
    const sink = textBuffer();
    const ticker = fakeTicker();
    const start = ticker.now();
    const reporter = plainReporter({ sink, ticker });
    for (const event of sampleRun({ lanes: sampleLanes, startedAt: start })) {
      if (event.at > ticker.now()) ticker.advance(event.at - ticker.now());
      reporter.observe(event);
    }
    await reporter.finish();
    await expect(sink.text()).toMatchFileSnapshot('golden/plain.txt');
    const lines = sink.text().trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('anthropic:sonnet blocked'))).not.toEqual([]);
    expect(lines.length).toBeLessThan(14);
  });
});
