import type { Check } from '../check.ts';

/** `human`: a person rates it later; until then it neither passes nor fails anything (its weight is 0). */
export const human: Check = () => ({
  pass: true,
  score: 0,
  reason: 'Waits for a rating by a person',
  metadata: { pending: 'human' },
});
