/**
 * The command line of a folder on a clock of its own: `parlane run` and `parlane plan` as a user starts them, with the
 * real store, while hours pass in seconds.
 */
import { exitCodes } from '../../src/cli/exit-code.ts';
import { VirtualClock } from '../../src/sim/virtual-clock.ts';
import { commandLine } from '../../test/support/command-line.ts';
import { letTimePass, turn } from '../../test/support/wire-clock.ts';

/** Wrong answers and failed cases are results too. */
const done: readonly number[] = [exitCodes.passed, exitCodes.failed, exitCodes.providerErrors];

/** What this process does by itself: writes that are being gathered, files, code that is waited for. */
const own = /^(?:Timeout|Immediate|FSReq|Work|ChildProcess)/;

async function untilIdle(): Promise<void> {
  do await turn();
  while (process.getActiveResourcesInfo().some((kind) => own.test(kind)));
}

export class VirtualCommandLine {
  readonly #clock = new VirtualClock(Date.UTC(2026, 0, 1));
  readonly #cwd: string;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Runs one command line and gives back what it printed; throws when it did not do its work. */
  async run(...args: string[]): Promise<string> {
    const place = { cwd: this.#cwd, clock: this.#clock, terminal: { isTTY: false, columns: 80 } };
    const said = await letTimePass(this.#clock, untilIdle, () => commandLine(place, ...args));
    // Runs are told apart by the second in which they began.
    this.#clock.advanceTo(this.#clock.now() + 60_000);
    if (!done.includes(said.code))
      throw new Error(`parlane ${args.join(' ')} ended with ${said.code}: ${said.err}${said.out.slice(-2_000)}`);
    return said.out;
  }
}
