/** The built command line in a pseudo-terminal, as a person meets it. */
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import pty from '@lydell/node-pty';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'parlane.js');

export interface TerminalPlace {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  /** What the person types, one after the other, each once this has been on the screen since the last. */
  readonly type?: Typing | readonly Typing[];
}

export interface Typing {
  readonly after: RegExp;
  readonly keys: string;
}

export interface OnScreen {
  readonly code: number;
  /** Everything that was written, with what steers the terminal. */
  readonly raw: string;
  /** The words alone. */
  readonly text: string;
}

/** Runs one command to its end. */
export function inTerminal(place: TerminalPlace, ...args: readonly string[]): Promise<OnScreen> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const terminal = pty.spawn(process.execPath, [launcher, ...args], {
    cwd: place.cwd,
    cols: place.columns ?? 100,
    rows: 40,
    env: { PATH, HOME, TERM: 'xterm-256color', ...(TMPDIR === undefined ? {} : { TMPDIR }), ...place.env },
  });
  let raw = '';
  let seen = 0;
  const typing = [place.type ?? []].flat();
  terminal.onData((data) => {
    raw += data;
    const [next] = typing;
    if (next?.after.test(stripVTControlCharacters(raw.slice(seen))) !== true) return;
    typing.shift();
    seen = raw.length;
    terminal.write(next.keys);
  });
  return new Promise((resolve) => {
    terminal.onExit(({ exitCode }) =>
      resolve({ code: exitCode, raw, text: stripVTControlCharacters(raw).replaceAll('\r', '') }),
    );
  });
}
