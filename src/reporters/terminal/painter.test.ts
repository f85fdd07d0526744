import { describe, expect, it } from 'vitest';
import { sampleLanes, sampleRun } from '../../../test/support/sample-run.ts';
import { terminalScreen } from '../../../test/support/terminal-screen.ts';
import { laneKey } from '../../domain/ids.ts';
import { type Ticker, textBuffer } from '../observer.ts';
import type { CaseReader, ReadCase } from './case-desk.ts';
import type { KeyCommand } from './keymap.ts';
import { liveFrame } from './live-frame.ts';
import { liveReporter } from './live-reporter.ts';
import { painter } from './painter.ts';
import { plainReporter } from './plain-lines.ts';

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
    const terminal = terminalScreen(12);
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
    const terminal = terminalScreen(6);
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
    const terminal = terminalScreen(40);
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
      keys: { obey: (command) => commands.push(command), readCase: async () => ({ lines: [], ended: true }) },
    });
    for (const event of sampleRun({ lanes: sampleLanes, startedAt: ticker.now() })) {
      if (event.at > ticker.now() + 10_000) break;
      reporter.observe(event);
    }
    for (const typed of ['p', '\u001b[B', 'p', '\u001b[B', '+-', 'oqq']) reporter.press(typed);
    expect(commands).toEqual([
      { kind: 'pause-lane', lane: laneKey('openai:gpt-5-mini:9f2c41d0') },
      { kind: 'change-limit', lane: laneKey('anthropic:sonnet:77aa01bc'), by: 1 },
      { kind: 'change-limit', lane: laneKey('anthropic:sonnet:77aa01bc'), by: -1 },
      { kind: 'open-report' },
      { kind: 'stop' },
      { kind: 'stop-now' },
    ]);
    await reporter.finish();
  });

  describe('with a case open', () => {
    const read = (index: number, words: string, ended = false) => ({
      lines: [`#${index + 1} heading`, ...Array.from({ length: 60 }, (_, at) => `${words} ${at}`)],
      ended,
    });
    interface Read {
      readonly index: number;
      readonly width: number;
      readonly unfold: boolean;
      readonly answer: (found: ReadCase) => void;
      readonly fail: (cause: Error) => void;
    }
    /** A run of twenty seconds on a screen of 80 x 24, and every read of a case, to be answered by the test. */
    function watched() {
      const terminal = terminalScreen(24);
      const ticker = fakeTicker();
      const reads: Read[] = [];
      const reader: CaseReader = (index, look) =>
        new Promise((answer, fail) => reads.push({ index, width: look.width, unfold: look.unfold, answer, fail }));
      const size = { columns: 80, rows: 24 };
      const reporter = liveReporter({
        sink: terminal,
        ticker,
        size: () => size,
        keys: { obey: () => {}, readCase: reader },
      });
      const start = ticker.now();
      for (const event of sampleRun({ lanes: sampleLanes, startedAt: start })) {
        if (event.at > start + 20_000) break;
        reporter.observe(event);
      }
      ticker.advance(20_000);
      const shows = async (): Promise<string> => {
        await Promise.resolve();
        await Promise.resolve();
        ticker.advance(100);
        return terminal.text();
      };
      return { terminal, ticker, reporter, reads, size, shows };
    }

    it('shows it above the lanes, which go on, and goes back to the view when it is closed', async () => {
      const { reporter, reads, shows, ticker } = watched();
      const before = await shows();
      reporter.press('f\r');
      expect(await shows()).toMatch(/^reading \.\.\./);
      const index = reads[0]?.index ?? -1;
      reads[0]?.answer(read(index, 'said', true));
      const text = await shows();
      expect(text).toMatch(new RegExp(`^#${index + 1} heading\\nsaid 0\\nsaid 1\\n`));
      expect(text).toMatch(/-- 1-10 of 60 lines --+\n/);
      expect(text).toMatch(/0:20 gone[\s\S]*LANE +LIVE[\s\S]*judge:gpt-5[\s\S]*\[enter\/esc\]close/);
      ticker.advance(3_000);
      expect(await shows()).toContain('0:23 gone');
      expect(reads.length).toBe(1);
      reporter.press(' ');
      expect(await shows()).toMatch(/heading\nsaid 10\n/);
      reporter.press('\u001b\u001b');
      const after = await shows();
      expect(after).not.toContain('heading');
      expect(after.split('\n').length).toBe(before.split('\n').length);
      await reporter.finish();
    });

    it('reads a running case again every second, stays at its end, and never shows another one', async () => {
      const { reporter, reads, shows, ticker } = watched();
      reporter.press('c\r');
      reads[0]?.answer(read(reads[0].index, 'said'));
      expect(await shows()).toContain('said 59');
      ticker.advance(1_000);
      expect(reads.length).toBe(2);
      ticker.advance(5_000);
      expect(reads.length).toBe(2);
      reporter.press('\u001bj\r');
      reads[1]?.answer(read(reads[1].index, 'late'));
      expect(await shows()).not.toContain('late');
      expect(reads[2]?.index).not.toBe(reads[0]?.index);
      reads[2]?.answer(read(reads[2].index, 'other', true));
      expect(await shows()).toContain('other 59');
      await reporter.finish();
    });

    it('reads it anew for another width and for unfolded tools', async () => {
      const { reporter, reads, size, shows, ticker } = watched();
      reporter.press('c\r');
      reads[0]?.answer(read(0, 'said', true));
      await shows();
      reporter.press('u');
      expect(reads[1]).toMatchObject({ unfold: true, width: 80 });
      reads[1]?.answer(read(0, 'unfolded', true));
      expect(await shows()).toContain('unfolded');
      size.columns = 60;
      ticker.advance(1_000);
      expect(reads[2]).toMatchObject({ unfold: true, width: 60 });
      reads[2]?.answer(read(0, 'narrow', true));
      await reporter.finish();
    });

    it('says so when a case cannot be read, and tries again', async () => {
      const { reporter, reads, shows, ticker } = watched();
      reporter.press('c\r');
      reads[0]?.fail(new Error('the store is\u001b[2J gone'));
      expect(await shows()).toMatch(/^#\d+ cannot be read: the store is gone\n/);
      ticker.advance(1_000);
      reads[1]?.answer(read(0, 'said', true));
      expect(await shows()).toContain('said 59');
      await reporter.finish();
    });

    it('prints above the view what is to stay', async () => {
      const { reporter, shows, terminal } = watched();
      await shows();
      reporter.say('Report so far: /somewhere/report.html\u001b[2J');
      expect(await shows()).toMatch(/^Report so far: \/somewhere\/report\.html\n/);
      await reporter.finish();
      expect(terminal.text()).toBe('Report so far: /somewhere/report.html');
    });
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
