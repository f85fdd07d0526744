import { execFile } from 'node:child_process';
import { ParlaneError } from '../domain/errors.ts';

export interface ProgramOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Runs a program to its end and gives what it printed. Throws a `ParlaneError` when it fails. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const limits = { cwd: options.cwd, signal: options.signal, timeout: options.timeoutMs, maxBuffer: 16 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    execFile(program, [...args], limits, (error, output) => {
      if (error === null) resolve(output);
      else
        reject(
          new ParlaneError('platform/program', `The program ${program} failed: ${error.message}.`, '', { program }),
        );
    });
  });
}
