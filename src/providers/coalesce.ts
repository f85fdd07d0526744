/**
 * Identical calls in flight share one answer, where the user allows it. Whoever makes the keys tells repeats apart, since
 * those never share. The call ends early only when everybody who waits for it has gone.
 */
import type { Outcome } from '../domain/reply.ts';

export interface Coalescer {
  /** Starts the call, or joins the one in flight under the same key. Without a key it is always started. */
  run(key: string | undefined, signal: AbortSignal, start: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome>;
}

interface Flight {
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  waiting: number;
}

const gone: Outcome = {
  kind: 'failure',
  code: 'aborted',
  message: 'the call was aborted.',
  retryable: false,
  billed: 'no',
};

export function createCoalescer(): Coalescer {
  const flights = new Map<string, Flight>();
  return {
    async run(key, signal, start) {
      if (key === undefined) return start(signal);
      if (signal.aborted) return gone;
      const joined = flights.get(key);
      const flight = joined ?? launch(flights, key, start);
      flight.waiting += 1;
      const outcome = await untilAborted(flight, signal);
      flight.waiting -= 1;
      if (flight.waiting === 0) flight.controller.abort();
      return joined === undefined || outcome.kind === 'failure'
        ? outcome
        : { ...outcome, costUsdMicros: 0, flags: [...outcome.flags, 'coalesced'] };
    },
  };
}

function launch(flights: Map<string, Flight>, key: string, start: (signal: AbortSignal) => Promise<Outcome>): Flight {
  const controller = new AbortController();
  const outcome = start(controller.signal).finally(() => {
    if (flights.get(key) === flight) flights.delete(key);
  });
  const flight: Flight = { outcome, controller, waiting: 0 };
  // A call that everybody has left takes no newcomers.
  controller.signal.addEventListener('abort', () => {
    if (flights.get(key) === flight) flights.delete(key);
  });
  flights.set(key, flight);
  return flight;
}

function untilAborted(flight: Flight, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(gone);
    signal.addEventListener('abort', leave, { once: true });
    flight.outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
