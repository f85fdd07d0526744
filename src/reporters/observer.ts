import type { RunEvent } from '../domain/run-event.ts';

/** Anything that watches a run. Observers never answer back and never throw: a broken one must not hurt a run. */
export interface RunObserver {
  observe(event: RunEvent): void;
  /** Called once, after the last event; resolves when everything is written. */
  finish(): Promise<void>;
}

/** Where text goes: standard output, a file, a string in a test. A returned promise asks the writer to wait. */
export interface TextSink {
  write(text: string): unknown;
}

/** Calls `fire` every so often until the returned function is called. The process's timers live in `platform/`. */
export interface Ticker {
  now(): number;
  every(ms: number, fire: () => void): () => void;
}

/** Keeps everything in memory, for small outputs and for tests. */
export function textBuffer(): TextSink & { readonly text: () => string } {
  const parts: string[] = [];
  return { write: (text) => void parts.push(text), text: () => parts.join('') };
}
