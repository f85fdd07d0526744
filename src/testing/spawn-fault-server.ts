import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ParlaneError } from '../domain/errors.ts';
import type { BehaviourRule } from './behaviour.ts';
import type { LedgerEntry, PaidTwice } from './ledger.ts';
import type { FaultServerOptions } from './server-state.ts';
import type { ServerStatistics } from './statistics.ts';

/** A fault server in a process of its own. */
export interface SpawnedFaultServer {
  readonly url: string;
  statistics(): Promise<ServerStatistics>;
  ledger(): Promise<LedgerEntry[]>;
  paidTwice(): Promise<PaidTwice[]>;
  behave(rule: BehaviourRule): Promise<void>;
  reset(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options that fit into an argument: plain data, no callbacks and no clock. */
export type SpawnOptions = Omit<FaultServerOptions, 'clock' | 'replies'> & {
  readonly replies?: Exclude<FaultServerOptions['replies'], (...args: never[]) => unknown>;
};

/** Source and build run alike: the program has this file's own extension. */
function programPath(): string {
  const here = fileURLToPath(import.meta.url);
  return here.replace(/spawn-fault-server(\.[jt]s)$/, 'fault-server-main$1');
}

/** Starts the server as a child process and waits until it listens. */
export async function spawnFaultServer(options: SpawnOptions = {}): Promise<SpawnedFaultServer> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', programPath(), JSON.stringify(options)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    exited.then(() => undefined),
  ]);
  if (first === undefined) {
    throw new ParlaneError('testing/spawn', 'The fault server ended before it listened.', 'Check its options.');
  }
  const { url } = JSON.parse(first) as { url: string };
  const control = async (command: string, body?: object): Promise<unknown> => {
    const init = { method: 'POST', body: JSON.stringify(body ?? {}) };
    return (await fetch(`${url}/__fault-server/${command}`, init)).json();
  };
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return {
    url,
    statistics: () => control('stats') as Promise<ServerStatistics>,
    ledger: () => control('ledger') as Promise<LedgerEntry[]>,
    paidTwice: () => control('paid-twice') as Promise<PaidTwice[]>,
    behave: async (rule) => void (await control('behave', rule)),
    reset: async () => void (await control('reset')),
    close,
    [Symbol.asyncDispose]: close,
  };
}
