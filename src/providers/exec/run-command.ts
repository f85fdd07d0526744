import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type CommandOutcome =
  | { readonly kind: 'ended'; readonly code: number | null; readonly out: string; readonly err: string }
  | { readonly kind: 'missing' | 'timeout' | 'aborted' | 'too-much' };

const mostOutput = 16 * 1024 * 1024;

/** Runs a program to its end and gives back what it printed; it and its children are killed when time is up. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  if (options.signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    const own = process.platform !== 'win32';
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: own,
    });
    const kill = (): void => {
      try {
        if (own && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    let [out, err] = ['', ''];
    const finish = (outcome: CommandOutcome): void => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', stop);
      resolve(outcome);
    };
    const give = (outcome: CommandOutcome): void => {
      kill();
      finish(outcome);
    };
    const stop = (): void => give({ kind: 'aborted' });
    const timer = setTimeout(() => give({ kind: 'timeout' }), Math.min(options.timeoutMs, 2 ** 31 - 1));
    options.signal.addEventListener('abort', stop, { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.length > mostOutput) give({ kind: 'too-much' });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err = (err + text).slice(-4000);
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      finish(error.code === 'ENOENT' ? { kind: 'missing' } : { kind: 'ended', code: 1, out, err: error.message }),
    );
    child.on('close', (code) => finish({ kind: 'ended', code, out, err }));
  });
}
