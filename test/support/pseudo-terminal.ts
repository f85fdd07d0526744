/** The built command line in a pseudo-terminal, as a person meets it. */
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import pty from '@lydell/node-pty';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'parlane.js');

export interface TerminalPlace {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  /** What the person types, once this has been on the screen. */
  readonly type?: { readonly after: RegExp; readonly keys: string };
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
  let typed = place.type === undefined;
  terminal.onData((data) => {
    raw += data;
    if (!typed && place.type?.after.test(stripVTControlCharacters(raw)) === true) {
      typed = true;
      terminal.write(place.type.keys);
    }
  });
  return new Promise((resolve) => {
    terminal.onExit(({ exitCode }) =>
      resolve({ code: exitCode, raw, text: stripVTControlCharacters(raw).replaceAll('\r', '') }),
    );
  });
}
