import type { Assertion } from '../domain/verdict.ts';
import { CheckProblem } from './check.ts';
import type { Speakers } from './transcript.ts';

/** Whose part of a conversation a check looks at: `config: {speaker: agent | client | all}`. */
export function speakersOf(assertion: Assertion, fallback: Speakers): Speakers {
  const said = assertion.config?.['speaker'];
  if (said === undefined) return fallback;
  if (said === 'agent' || said === 'client' || said === 'all') return said;
  throw new CheckProblem('config.speaker is "agent", "client" or "all"');
}
