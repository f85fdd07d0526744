/** Where output goes, as far as it matters for how it looks. */
export interface Terminal {
  readonly isTTY: boolean;
  readonly columns: number;
}

/** What a command may touch of the process; a test gives its own. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly terminal: Terminal;
  /** A line (or several) to the terminal or the pipe. */
  print(text: string): void;
  /** Data to the same place, exactly as given; a promise asks the writer to wait. */
  write(text: string): unknown;
  /** To people who watch. */
  complain(text: string): void;
  /** What the process will end with; the last word counts. */
  exit(code: number): void;
}

/** What a text takes when nobody says how wide the terminal is. */
const defaultColumns = 80;

const written = (text: string): Promise<void> | undefined =>
  process.stdout.write(text) ? undefined : new Promise((resolve) => process.stdout.once('drain', resolve));

export const processContext = (): CliContext => ({
  env: process.env,
  cwd: process.cwd(),
  terminal: { isTTY: process.stdout.isTTY === true, columns: process.stdout.columns ?? defaultColumns },
  print: (text) => void process.stdout.write(`${text}\n`),
  write: written,
  complain: (text) => void process.stderr.write(`${text}\n`),
  exit: (code) => {
    process.exitCode = code;
  },
});
