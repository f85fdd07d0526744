/**
 * Job: the one way in which a case does anything to the world.
 * Not its job: what the effect is, and when it may start.
 *
 * Invariants: 1. A step whose path and request hash were recorded is never done again: it gives the recorded answer.
 * 2. Nothing is sent before its intent is committed; no answer is used before it is on disk. 3. A path is used once per
 * case, so that parallel steps replay in any order. 4. What was sent before without an answer is sent again under the
 * next send number and its answer is marked `maybe-again`. 5. An effect that throws leaves no answer.
 */
import type { Recorded, StepTimes } from '../domain/effects.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';
import type { Usage } from '../domain/reply.ts';
import { RequestEncoder } from '../store/message-chain.ts';
import type { Answer, StepKind } from '../store/store.ts';
import type { Journal } from './journal.ts';
import type { Pauses } from './pauses.ts';

/** What an effect gives back to its step. */
export interface Performed<T> {
  readonly value: T;
  readonly times: StepTimes;
  readonly usage?: Usage;
  /** Null: no price is known. */
  readonly costUsdMicros: number | null;
  readonly provider?: string;
  readonly role?: string;
  /** Nothing was or will be charged for it. */
  readonly free?: boolean;
}

/** What a step gives to its effect. */
export interface Sending {
  /** Commits the intent, once; must have resolved before anything is sent. */
  intend(reservedUsdMicros?: number): Promise<void>;
  /** The same for every send of this step, so that the other side can tell a repetition. */
  readonly idempotencyKey: string;
}

/** A step that is over, for whoever sums up the case. */
export interface StepEnd {
  readonly kind: StepKind;
  readonly answer: Omit<Answer, 'index'>;
  readonly replayed: boolean;
}

export interface StepParts {
  readonly journal: Journal;
  /** Run and case, the first part of every idempotency key. */
  readonly name: string;
  readonly now: () => number;
  readonly onEnd?: (end: StepEnd) => void;
  /** Told where the recorded part ends. */
  readonly pauses?: Pauses;
}

export type Step = <T>(
  kind: StepKind,
  path: string,
  request: unknown,
  effect: (sending: Sending) => Promise<Performed<T>>,
) => Promise<Recorded<T>>;

const twice = (path: string): ParlaneError =>
  new ParlaneError(
    'bug/path-used-twice',
    `The step "${path}" was issued twice in one case.`,
    'Give every effect its own path.',
  );

/** Clock and random reads send nothing: no intent, and nobody waits for the disk. */
const isRead = (kind: StepKind): boolean => kind === 'clock' || kind === 'random';

export function createStep({ journal, name, now, onEnd, pauses }: StepParts): Step {
  const encoder = new RequestEncoder();
  const used = new Set<string>();

  return async (kind, path, request, effect) => {
    if (used.has(path)) throw twice(path);
    used.add(path);
    const encoded = encoder.encode(request);
    const recorded = journal.recorded.answers.get(path);
    if (recorded !== undefined && (recorded.pinned === true || recorded.requestHash === encoded.hash)) {
      pauses?.replayed(recorded.times.endedAt);
      onEnd?.({ kind, answer: recorded, replayed: true });
      return { value: recorded.value as never, times: recorded.times, replayed: true };
    }
    journal.refuse?.(path, request);
    pauses?.playsOn();
    const earlier = Math.max(journal.recorded.sends.get(path) ?? 0, recorded?.send ?? 0);
    const send = earlier + 1;
    let intended: Promise<void> | undefined;
    const intend = (reservedUsdMicros = 0): Promise<void> => {
      intended ??= journal.intend({ path, send, kind, request: encoded, sentAt: now(), reservedUsdMicros });
      return intended;
    };
    const done = await effect({ intend, idempotencyKey: `${name}/${path}` });
    const answer: Omit<Answer, 'index'> = {
      path,
      send,
      kind,
      requestHash: encoded.hash,
      value: done.value as Json,
      ...(done.provider === undefined ? {} : { provider: done.provider }),
      ...(done.role === undefined ? {} : { role: done.role }),
      ...(done.usage === undefined ? {} : { usage: done.usage }),
      costUsdMicros: done.costUsdMicros,
      times: done.times,
      billing:
        earlier > (recorded === undefined ? 0 : recorded.send) ? 'maybe-again' : done.free === true ? 'none' : 'once',
    };
    if (isRead(kind)) journal.note(answer);
    else await journal.answer(answer);
    onEnd?.({ kind, answer, replayed: false });
    return { value: done.value, times: done.times, replayed: false };
  };
}
