import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process that can be told from every other one, also from a later one with the same number. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** When it started, in the system's own words; empty where the system does not tell. */
  readonly startedAt: string;
}

/** Start time in clock ticks since boot: the 20th field after the command's name. Linux only. */
function startOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

export const thisProcess = (): ProcessIdentity => ({
  host: hostname(),
  pid: process.pid,
  startedAt: startOf(process.pid),
});

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Of another machine nothing is known but when it was last heard of. */
const silenceMs = 30_000;

/** Whether a process is still there. */
export function isAlive(other: ProcessIdentity & { readonly seenAt: number }, now: number): boolean {
  if (other.host !== hostname()) return now - other.seenAt < silenceMs;
  if (!exists(other.pid)) return false;
  const started = startOf(other.pid);
  return started === '' || other.startedAt === '' || started === other.startedAt;
}
