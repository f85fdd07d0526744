/** The effects that a case gets: each one a step of its journal, each one stopped with the run. */
import { randomUUID } from 'node:crypto';
import type { Effects, Recorded } from '../domain/effects.ts';
import type { Json } from '../domain/json.ts';
import type { Outcome } from '../domain/reply.ts';
import { StoreError } from '../store/store-errors.ts';
import { type CallDesk, type Caller, sendModelCall } from './model-call.ts';
import { Suspended } from './run-stop.ts';
import type { Performed, Sending, Step } from './step.ts';

/** Rejects as soon as the signal aborts; the work itself goes on to its end and is kept. */
export function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.reject(new Suspended());
  }
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(new Suspended());
    signal.addEventListener('abort', abort, { once: true });
    const settle = (end: () => void): void => {
      signal.removeEventListener('abort', abort);
      end();
    };
    work.then(
      (value) => settle(() => resolve(value)),
      (cause: unknown) => settle(() => reject(cause)),
    );
  });
}

type Effect<T> = (options: { readonly signal: AbortSignal; readonly idempotencyKey: string }) => Promise<T>;

/** Runs a tool, webhook or piece of code once its intent is committed. */
async function act<T extends Json>(
  desk: CallDesk,
  caller: Caller,
  effect: Effect<T>,
  sending: Sending,
  takeOff: () => void,
): Promise<Performed<T>> {
  await sending.intend();
  if (desk.stop.starts.aborted || caller.signal.aborted) throw new Suspended();
  takeOff();
  const rested = caller.working.begin();
  const startedAt = desk.clock.now();
  try {
    const value = await unless(
      caller.signal,
      effect({ signal: caller.signal, idempotencyKey: sending.idempotencyKey }),
    );
    const endedAt = desk.clock.now();
    const times = { startedAt, endedAt, queueMs: 0, backoffMs: 0, latencyMs: endedAt - startedAt, attempts: 1 };
    return { value, times, costUsdMicros: 0, free: true };
  } finally {
    rested();
  }
}

const reading = <T>(now: number, value: T): Performed<T> => ({
  value,
  times: { startedAt: now, endedAt: now, queueMs: 0, backoffMs: 0, latencyMs: 0, attempts: 0 },
  costUsdMicros: 0,
  free: true,
});

export function createEffects(desk: CallDesk, caller: Caller, step: Step): Effects {
  // A runner may catch what it likes: how the case was interrupted is noted here, beside it. What is on the wire counts as
  // in flight until its answer is kept and handed to the case.
  const guarded = async <T>(work: (takeOff: () => void) => Promise<T>): Promise<T> => {
    let landed: (() => void) | undefined;
    const takeOff = (): void => {
      landed ??= desk.stop.takeOff();
    };
    try {
      if (desk.stop.starts.aborted || caller.signal.aborted) throw new Suspended();
      return await unless(caller.signal, work(takeOff));
    } catch (cause) {
      if (cause instanceof Suspended || cause instanceof StoreError) caller.interruption ??= cause;
      if (cause instanceof StoreError) desk.stop.fail(cause);
      throw cause;
    } finally {
      landed?.();
    }
  };
  return {
    signal: caller.signal,
    model: (path, call) => {
      const request = { provider: call.provider, role: call.role, request: call.request };
      return guarded<Recorded<Outcome>>((takeOff) =>
        step('model', path, request, (sending) => sendModelCall(desk, caller, path, call, sending, takeOff)),
      );
    },
    perform: (kind, path, request, effect) =>
      guarded((takeOff) => step(kind, path, request, (sending) => act(desk, caller, effect, sending, takeOff))),
    now: async (path) =>
      (await step('clock', path, null, async () => reading(desk.clock.now(), desk.clock.now()))).value,
    uuid: async (path) =>
      (await step('random', path, null, async () => reading(desk.clock.now(), randomUUID() as string))).value,
  };
}
