/** Where a case's steps are kept: in the store, or in memory for a conversation that is run by itself. */
import type { CaseIndex } from '../domain/ids.ts';
import type { Answer, Intent, RunStore, StepHistory } from '../store/store.ts';

export interface Journal {
  /** What was recorded before, on resume, replay and fork. */
  readonly recorded: StepHistory;
  /** Resolves when the intent is committed: only then may anything be sent. */
  intend(intent: Omit<Intent, 'index'>): Promise<void>;
  /** Resolves when the answer is on disk: only then may it be used. */
  answer(answer: Omit<Answer, 'index'>): Promise<void>;
  /** Keeps an answer that cost nothing, in order with the rest, without waiting. */
  note(answer: Omit<Answer, 'index'>): void;
  /**
   * Set for a replay: nothing may happen that was not recorded. Gets the step that is missing or differs, and throws.
   */
  readonly refuse?: (path: string, request: unknown) => never;
}

export const emptyHistory: StepHistory = { answers: new Map(), sends: new Map() };

export const storeJournal = (run: RunStore, index: CaseIndex, recorded: StepHistory): Journal => ({
  recorded,
  intend: (intent) => run.intend({ ...intent, index }),
  answer: (answer) => run.answer({ ...answer, index }),
  note: (answer) => run.note({ ...answer, index }),
});

/** A journal that lasts as long as its object. `answers` may be looked at, and given to a second one to replay. */
export function memoryJournal(
  index: CaseIndex,
  recorded: StepHistory = emptyHistory,
): Journal & { readonly answers: Map<string, Answer> } {
  const answers = new Map<string, Answer>(recorded.answers);
  const keep = (answer: Omit<Answer, 'index'>): void => {
    answers.set(answer.path, { ...answer, index });
  };
  return {
    recorded,
    answers,
    intend: () => Promise.resolve(),
    answer: async (answer) => keep(answer),
    note: keep,
  };
}
