import { findingsIn, findingsKept } from '../../domain/finding.ts';
import { isObject, type Json } from '../../domain/json.ts';
import { asText, type Check, demand } from '../check.ts';
import { judgeQuestion } from '../graders/prompts.ts';
import { readScore } from '../graders/read-answer.ts';
import { questionFor } from '../graders/rubric-prompt.ts';
import { transcriptText } from '../transcript.ts';

const numberOr = (value: Json | undefined, fallback: number): number => (typeof value === 'number' ? value : fallback);

/** The scale of the config, 1 to 3 unless it says otherwise. */
function scaleOf(config: { readonly [key: string]: Json } | undefined): { min: number; max: number } {
  const scale = config?.['scale'];
  const said = isObject(scale) ? scale : {};
  const range = { min: numberOr(said['min'], 1), max: numberOr(said['max'], 3) };
  demand(range.min < range.max, '"judge": the scale needs min below max');
  return range;
}

/**
 * `judge`: a model rates a conversation, with its tool calls and results, on a scale. The score is where the rating
 * stands on the scale, from 0 to 1; the rating itself and the comment are in the metadata. The threshold is a rating.
 */
export const judge: Check = async (input) => {
  const { subject, value, text, assertion, inverse, grader, rubric } = input;
  const scale = scaleOf(assertion.config);
  const goal = assertion.config?.['goal'] ?? subject.conversation?.variables?.['goal'] ?? '';
  const wanted = value === undefined || value === null ? 'The agent did what the client needed.' : asText(value);
  const transcript = subject.conversation === undefined ? text : transcriptText(subject.conversation, 'all');
  const values = { ...subject.vars, transcript, output: transcript, rubric: wanted, goal };
  const ours = judgeQuestion(transcript, wanted, asText(goal), scale);
  const question = await questionFor(rubric.rubricPrompt, values, ours, input);
  const rated = await grader.ask(question, readScore(scale.min, scale.max, 'comment'));
  const threshold = assertion.threshold ?? (scale.min + scale.max) / 2;
  const score = (rated.score - scale.min) / (scale.max - scale.min);
  return {
    pass: rated.score >= threshold !== inverse,
    score: inverse ? 1 - score : score,
    reason: rated.reason === '' ? `Rated ${rated.score}` : rated.reason,
    metadata: {
      rating: rated.score,
      comment: rated.reason,
      ...findingsKept(findingsIn(rated.said, subject.conversation?.conversation_history ?? [])),
    },
  };
};
