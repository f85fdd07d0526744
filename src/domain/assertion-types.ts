/** The names of the assertions, without their `not-` twins. What each one does and needs is known to `grading/`. */
export const assertionTypes = [
  ...[
    'equals',
    'contains',
    'icontains',
    'contains-all',
    'contains-any',
    'icontains-all',
    'icontains-any',
    'starts-with',
  ],
  ...[
    'regex',
    'is-json',
    'contains-json',
    'is-html',
    'contains-html',
    'is-xml',
    'contains-xml',
    'is-sql',
    'contains-sql',
  ],
  ...['is-refusal', 'levenshtein', 'rouge-n', 'bleu', 'gleu', 'meteor', 'word-count', 'latency', 'cost', 'perplexity'],
  ...['perplexity-score', 'finish-reason', 'guardrails', 'is-valid-function-call', 'is-valid-openai-function-call'],
  ...['is-valid-openai-tools-call', 'tool-call-f1', 'skill-used', 'trace-span-count', 'trace-span-duration'],
  ...['trace-error-spans', 'trajectory:tool-used', 'trajectory:tool-args-match', 'trajectory:tool-sequence'],
  ...['trajectory:step-count', 'trajectory:goal-success', 'javascript', 'python', 'ruby', 'webhook', 'llm-rubric'],
  ...['g-eval', 'model-graded-closedqa', 'model-graded-factuality', 'factuality', 'answer-relevance'],
  ...['context-faithfulness', 'context-recall', 'context-relevance', 'conversation-relevance', 'search-rubric'],
  ...[
    'agent-rubric',
    'similar',
    'similar:cosine',
    'similar:dot',
    'similar:euclidean',
    'classifier',
    'moderation',
    'pi',
  ],
  ...['tool-called', 'tool-called-with', 'state-equals', 'handoff-path', 'max-turns', 'judge'],
] as const;

/** Assertions that have no `not-` twin. */
export const specialAssertionTypes = ['select-best', 'max-score', 'human', 'assert-set'] as const;

const known: ReadonlySet<string> = new Set([...assertionTypes, ...specialAssertionTypes]);

/** Whether an assertion of this name exists, `not-` included. */
export function isAssertionType(type: string): boolean {
  if (known.has(type) || type.startsWith('promptfoo:redteam:')) return true;
  return type.startsWith('not-') && (assertionTypes as readonly string[]).includes(type.slice('not-'.length));
}
