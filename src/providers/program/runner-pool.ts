/**
 * Processes for a user's program, one call at a time in each, so that a hang, a crash or an exit is one call's failure.
 * A process is kept for the next call; the first idle one is taken, so that calls one after another share their state.
 */
import type { CodeCall, CodeOutcome } from '../../domain/code-runner.ts';
import { type ClosableCodeRunner, createCodeRunner } from '../../platform/code-runner.ts';

export interface PoolOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly timeoutMs: number;
}

export class RunnerPool {
  readonly #options: PoolOptions;
  readonly #idle: ClosableCodeRunner[] = [];
  readonly #busy = new Set<ClosableCodeRunner>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async run(call: CodeCall, signal: AbortSignal): Promise<CodeOutcome> {
    const runner = this.#idle.shift() ?? this.#start();
    this.#busy.add(runner);
    const outcome = await runner.run(call, { signal });
    this.#busy.delete(runner);
    // A call that was given up may still be running in there.
    const spent = outcome.kind === 'broke' && (outcome.cause === 'aborted' || outcome.cause === 'timeout');
    if (spent) await runner.close();
    else this.#idle.unshift(runner);
    return outcome;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((runner) => runner.close()));
  }

  #start(): ClosableCodeRunner {
    const env = Object.entries(this.#options.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const { cwd, timeoutMs } = this.#options;
    return createCodeRunner({ env: Object.fromEntries(env), cwd, timeoutMs, memoryMb: 2048 });
  }
}
