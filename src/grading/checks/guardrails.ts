import { type Check, explained } from '../check.ts';

/** `guardrails`: the provider's own safety filter did not step in. */
export const guardrails: Check = ({ subject, inverse }) => {
  const seen = subject.reply?.guardrails;
  if (seen?.flagged !== true) {
    return explained(
      !inverse,
      inverse ? 'Expected a block by the guardrails, there was none' : 'No guardrail stepped in',
    );
  }
  const where = seen.flaggedInput ? 'the prompt' : seen.flaggedOutput ? 'the output' : 'the content';
  return explained(inverse, seen.reason ?? `A guardrail blocked ${where}`);
};
