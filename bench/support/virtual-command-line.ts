/**
 * The command line of a folder on a clock of its own: `parlane run` and `parlane plan` as a user starts them, with the
 * real store, while hours pass in seconds.
 *
 * Time goes on only when this process has nothing left to do by itself: no write is being gathered, no file is being
 * read, no code is being waited for. Otherwise what takes a millisecond of ours would take seconds of the run's.
 */
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../../src/cli/exit-code.ts';
import { runCommandLine } from '../../src/cli/main.ts';
import { VirtualClock } from '../../src/sim/virtual-clock.ts';

/** Wrong answers and failed cases are results too. */
const done: readonly number[] = [exitCodes.passed, exitCodes.failed, exitCodes.providerErrors];

const own = /^(?:Timeout|Immediate|FSReq|Work|ChildProcess)/;
const isBusy = (): boolean => process.getActiveResourcesInfo().some((kind) => own.test(kind));

/** Until a promise is settled, time goes from timer to timer. */
async function passTime(clock: VirtualClock, until: Promise<unknown>): Promise<void> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  until.then(end, end);
  for (;;) {
    await breathe();
    while (isBusy()) await breathe();
    if (over) return;
    if (!clock.step()) await sleep(1);
  }
}

export class VirtualCommandLine {
  readonly #clock = new VirtualClock(Date.UTC(2026, 0, 1));
  readonly #cwd: string;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Runs one command line and gives back what it printed; throws when it did not do its work. */
  async run(...args: string[]): Promise<string> {
    const said = { code: 0, out: '', err: '' };
    const work = runCommandLine(args, {
      env: {},
      cwd: this.#cwd,
      clock: this.#clock,
      terminal: { isTTY: false, columns: 80 },
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
    });
    await passTime(this.#clock, work);
    await work;
    // Runs are told apart by the second in which they began.
    this.#clock.advanceTo(this.#clock.now() + 60_000);
    if (!done.includes(said.code))
      throw new Error(`parlane ${args.join(' ')} ended with ${said.code}: ${said.err}${said.out.slice(-2_000)}`);
    return said.out;
  }
}
