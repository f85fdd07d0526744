import { findingsIn, findingsKept } from '../../domain/finding.ts';
import type { JsonObject } from '../../domain/json.ts';
import { asText, type Check, type CheckInput, type CheckOutcome, parsedOrText } from '../check.ts';
import type { Question } from '../graders/grader.ts';
import { conversationRubricQuestion, rubricQuestion } from '../graders/prompts.ts';
import { readGraded } from '../graders/read-answer.ts';
import { questionFor } from '../graders/rubric-prompt.ts';
import { transcriptText } from '../transcript.ts';

/** Asks for `{pass, score, reason}` and applies the threshold and `not-`. */
export async function gradeByModel(input: CheckInput, values: JsonObject, ours: Question): Promise<CheckOutcome> {
  const { assertion, inverse, grader, rubric, subject } = input;
  const question = await questionFor(rubric.rubricPrompt, { ...subject.vars, ...values }, ours, input);
  const graded = await grader.ask(question, readGraded);
  const threshold = assertion.threshold === undefined ? undefined : Number(assertion.threshold);
  const reached = threshold === undefined || Number.isNaN(threshold) || graded.score >= threshold;
  const pass = graded.pass && reached;
  const score = inverse ? Math.min(1, Math.max(0, 1 - graded.score)) : graded.score;
  const fallback = reached
    ? pass
      ? 'The grader agrees'
      : 'The grader does not agree'
    : `Score ${graded.score} is below the threshold ${threshold}`;
  const found = findingsKept(findingsIn(graded.said, subject.conversation?.conversation_history ?? []));
  return {
    pass: pass !== inverse,
    score,
    reason: graded.reason === '' ? fallback : graded.reason,
    ...(found.findings === undefined ? {} : { metadata: { findings: found.findings } }),
  };
}

/** `llm-rubric`: a model decides whether the rubric holds. Of a conversation it sees every turn, tool call and result. */
export const llmRubric: Check = (input) => {
  const { subject, text, value } = input;
  const rubric = value === undefined || value === null ? '' : asText(value);
  if (subject.conversation !== undefined) {
    const transcript = transcriptText(subject.conversation, 'all');
    return gradeByModel(input, { output: transcript, rubric }, conversationRubricQuestion(transcript, rubric));
  }
  return gradeByModel(input, { output: parsedOrText(text), rubric }, rubricQuestion(text, rubric));
};
