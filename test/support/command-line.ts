/** A command line without a process: what was said, and what it ended with. */
import type { CliContext } from '../../src/cli/cli-context.ts';
import { runCommandLine } from '../../src/cli/main.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Place {
  readonly cwd: string;
  readonly env?: CliContext['env'];
  readonly terminal?: CliContext['terminal'];
  readonly clock?: CliContext['clock'];
}

const pipe = { isTTY: false, columns: Number.POSITIVE_INFINITY };

export function testContext({ cwd, env = {}, terminal = pipe, clock }: Place): {
  context: CliContext;
  said: { code: number; out: string; err: string };
} {
  const said = { code: 0, out: '', err: '' };
  const context: CliContext = {
    env,
    cwd,
    terminal,
    ...(clock === undefined ? {} : { clock }),
    print: (text) => {
      said.out += `${text}\n`;
    },
    write: (text) => {
      said.out += text;
    },
    complain: (text) => {
      said.err += `${text}\n`;
    },
    exit: (code) => {
      said.code = code;
    },
  };
  return { context, said };
}

/** Runs one command line at a place. */
export async function commandLine(place: Place, ...args: readonly string[]): Promise<Said> {
  const { context, said } = testContext(place);
  await runCommandLine(args, context);
  return said;
}
