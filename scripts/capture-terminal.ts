/**
 * What a real terminal shows of the live view: plays a made-up run in tmux at 80 and 160 columns and keeps the screens
 * as golden texts, which a test holds against the frames. `node scripts/capture-terminal.ts` (needs tmux).
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Ticker } from '../src/reporters/observer.ts';
import { liveReporter } from '../src/reporters/terminal/live-reporter.ts';
import { sampleLanes, sampleRun } from '../test/support/sample-run.ts';

const playedMs = 72_000;
const golden = join(import.meta.dirname, '../src/reporters/terminal/golden');

/** Draws every frame of the first 72 seconds as fast as it can, then leaves the last one standing. */
async function play(): Promise<void> {
  let now = Date.UTC(2026, 10, 15, 10, 0, 0);
  const end = now + playedMs;
  let draw: () => void = () => {};
  const ticker: Ticker = {
    now: () => now,
    every(_ms, fire) {
      draw = fire;
      return () => {};
    },
  };
  const { columns, rows } = process.stdout;
  const size = () => ({ columns: columns ?? 80, rows: rows ?? 24 });
  const keys = { obey: () => {}, readCase: async () => ({ lines: [], ended: true }) };
  const reporter = liveReporter({ sink: process.stdout, ticker, size, title: 'refund-bot', keys });
  process.stdout.write('$ parlane run\n');
  for (const event of sampleRun({ lanes: sampleLanes, startedAt: now })) {
    if (event.at > end) break;
    reporter.observe(event);
    if (event.at - now < 100) continue;
    now = event.at;
    draw();
  }
  now = end;
  draw();
  await wait(600_000);
}

async function capture(columns: number, rows: number): Promise<void> {
  const session = `parlane-capture-${process.pid}-${columns}`;
  const tmux = (...args: string[]): string => execFileSync('tmux', args, { encoding: 'utf8' });
  const command = `${process.execPath} --disable-warning=ExperimentalWarning ${import.meta.filename} --play`;
  tmux('new-session', '-d', '-s', session, '-x', String(columns), '-y', String(rows), command);
  try {
    for (let tries = 0; tries < 100; tries++) {
      await wait(100);
      if (tmux('capture-pane', '-p', '-t', session).includes('1:12 gone')) break;
    }
    await wait(300);
    const path = join(golden, `tmux-${columns}.txt`);
    writeFileSync(path, `${tmux('capture-pane', '-p', '-t', session).trimEnd()}\n`);
    console.log(path);
  } finally {
    tmux('kill-session', '-t', session);
    // Its server goes with the last session, and takes down one that is begun meanwhile.
    await wait(500);
  }
}

if (process.argv.includes('--play')) await play();
else {
  await capture(80, 24);
  await capture(160, 40);
}
