import { type Clock, realClock } from '../platform/clock.ts';
import { openOutputs } from '../platform/outputs.ts';

/** Where output goes, as far as it matters for how it looks. */
export interface Terminal {
  readonly isTTY: boolean;
  /** Infinite where there is no terminal: what goes into a pipe or a file is neither cut nor broken into lines. */
  readonly columns: number;
}

/** The terminal people watch on, as far as a live view needs it. */
export interface CliScreen {
  readonly columns: () => number;
  readonly rows: () => number;
  write(text: string): void;
  /** Hears single keys until the returned function is called; absent where there is no keyboard. */
  readonly keys?: (press: (key: string) => void) => () => void;
}

/** What a command may touch of the process; a test gives its own. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly terminal: Terminal;
  /** By which runs are played; the wall clock unless said. */
  readonly clock?: Clock;
  /** A line (or several) to the terminal or the pipe. */
  print(text: string): void;
  /** Data to the same place, exactly as given; a promise asks the writer to wait. */
  write(text: string): unknown;
  /** To people who watch. */
  complain(text: string): void;
  /** Aborted when nobody reads what is printed any more; absent where that cannot happen. */
  readonly unread?: AbortSignal;
  /** Absent: nobody watches, so progress is plain lines. */
  readonly screen?: CliScreen;
  /** Asks the person at the terminal; absent where there is none. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Opens a file in the person's browser; false or absent where there is none. */
  readonly openFile?: (path: string) => Promise<boolean>;
  /** What the process will end with; the last word counts. */
  exit(code: number): void;
}

/** Of a terminal that does not say how wide it is. */
const defaultColumns = 80;

function processTerminal({ isTTY, columns }: { isTTY?: boolean; columns?: number }): Terminal {
  return isTTY === true
    ? { isTTY, columns: columns || defaultColumns }
    : { isTTY: false, columns: Number.POSITIVE_INFINITY };
}

/** A view hides the cursor; a process that ends at once gives it back all the same. */
const showCursor = '\u001b[?25h';

function processScreen(): CliScreen {
  let used = false;
  return {
    columns: () => process.stderr.columns ?? 80,
    rows: () => process.stderr.rows ?? 24,
    write: (text) => {
      if (!used) process.once('exit', () => void process.stderr.write(showCursor));
      used = true;
      process.stderr.write(text);
    },
    ...(process.stdin.isTTY === true ? { keys: hearKeys } : {}),
  };
}

function hearKeys(press: (key: string) => void): () => void {
  const { stdin } = process;
  const hear = (data: Buffer): void => press(data.toString());
  stdin.setRawMode(true).resume().on('data', hear);
  return () => void stdin.off('data', hear).setRawMode(false).pause();
}

async function confirm(question: string): Promise<boolean> {
  const { confirm: ask } = await import('@clack/prompts');
  return (await ask({ message: question, initialValue: false, output: process.stderr })) === true;
}

export const clockOf = ({ clock = realClock }: CliContext): Clock => clock;

export const processContext = (): CliContext => ({
  ...(process.stderr.isTTY === true ? { screen: processScreen() } : {}),
  ...(process.stderr.isTTY === true && process.stdin.isTTY === true ? { confirm } : {}),
  env: process.env,
  cwd: process.cwd(),
  terminal: processTerminal(process.stdout),
  ...openOutputs(process.stdout, process.stderr),
  openFile: async (path) => (await import('../platform/browser.ts')).openInBrowser(path, process.env),
  exit: (code) => {
    process.exitCode = code;
  },
});
