/** What a command may touch of the process; a test gives its own. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** To the terminal or the pipe. */
  print(text: string): void;
  /** To people who watch. */
  complain(text: string): void;
  /** What the process will end with; the last word counts. */
  exit(code: number): void;
}

export const processContext = (): CliContext => ({
  env: process.env,
  cwd: process.cwd(),
  print: (text) => void process.stdout.write(`${text}\n`),
  complain: (text) => void process.stderr.write(`${text}\n`),
  exit: (code) => {
    process.exitCode = code;
  },
});
