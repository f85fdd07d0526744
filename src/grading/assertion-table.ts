/**
 * What is known about every assertion type before anything runs. Plans, `parlane check`, the docs and the grader read
 * this one table; how a type works is in `checks/`.
 */

/** What a check needs beside the output. */
export type Need =
  | 'prompt'
  | 'cost'
  | 'latency'
  | 'trace'
  | 'conversation'
  | 'text-model'
  | 'embedding-model'
  | 'moderation-model'
  | 'classification-model'
  | 'code'
  | 'network'
  | 'all-rows'
  | 'person';

export interface AssertionFacts {
  readonly type: string;
  readonly group: 'text' | 'format' | 'numbers' | 'tools' | 'trace' | 'conversation' | 'code' | 'model' | 'rows';
  readonly value: 'required' | 'optional' | 'none';
  /** The default; `required`: there is none and the config must say one; absent: thresholds mean nothing here. */
  readonly threshold?: number | 'required' | 'optional';
  readonly needs: readonly Need[];
  /** Its verdict comes from a language model and may differ from run to run. */
  readonly modelGraded: boolean;
}

type Row = readonly [
  type: string,
  group: AssertionFacts['group'],
  value: AssertionFacts['value'],
  threshold: AssertionFacts['threshold'],
  ...needs: Need[],
];

const rows: readonly Row[] = [
  ['equals', 'text', 'required', undefined],
  ['contains', 'text', 'required', undefined],
  ['icontains', 'text', 'required', undefined],
  ['contains-all', 'text', 'required', undefined],
  ['icontains-all', 'text', 'required', undefined],
  ['contains-any', 'text', 'required', undefined],
  ['icontains-any', 'text', 'required', undefined],
  ['starts-with', 'text', 'required', undefined],
  ['regex', 'text', 'required', undefined],
  ['word-count', 'text', 'required', undefined],
  ['is-refusal', 'text', 'none', undefined],
  ['levenshtein', 'text', 'required', 5],
  ['rouge-n', 'text', 'required', 0.75],
  ['bleu', 'text', 'required', 0.5],

  ['is-json', 'format', 'optional', undefined],
  ['contains-json', 'format', 'optional', undefined],
  ['is-html', 'format', 'none', undefined],
  ['contains-html', 'format', 'none', undefined],
  ['is-xml', 'format', 'optional', undefined],
  ['contains-xml', 'format', 'optional', undefined],
  ['is-sql', 'format', 'optional', undefined],
  ['contains-sql', 'format', 'optional', undefined],

  ['cost', 'numbers', 'none', 'required', 'cost'],
  ['latency', 'numbers', 'none', 'required', 'latency'],
  ['finish-reason', 'numbers', 'required', undefined],
  ['guardrails', 'numbers', 'none', undefined],

  ['is-valid-function-call', 'tools', 'none', undefined],
  ['is-valid-openai-function-call', 'tools', 'none', undefined],
  ['is-valid-openai-tools-call', 'tools', 'none', undefined],
  ['tool-call-f1', 'tools', 'required', 1],
  ['skill-used', 'tools', 'required', undefined],

  ['trace-span-count', 'trace', 'required', undefined, 'trace'],
  ['trace-span-duration', 'trace', 'required', undefined, 'trace'],
  ['trace-error-spans', 'trace', 'optional', undefined, 'trace'],
  ['trajectory:tool-used', 'trace', 'required', undefined, 'trace'],
  ['trajectory:tool-args-match', 'trace', 'required', undefined, 'trace'],
  ['trajectory:tool-sequence', 'trace', 'required', undefined, 'trace'],
  ['trajectory:step-count', 'trace', 'required', undefined, 'trace'],
  ['trajectory:goal-success', 'trace', 'required', 'optional', 'trace', 'text-model'],

  ['tool-called', 'conversation', 'required', undefined, 'conversation'],
  ['tool-called-with', 'conversation', 'required', undefined, 'conversation'],
  ['state-equals', 'conversation', 'required', undefined, 'conversation'],
  ['handoff-path', 'conversation', 'required', undefined, 'conversation'],
  ['max-turns', 'conversation', 'required', undefined, 'conversation'],
  ['judge', 'conversation', 'optional', 'optional', 'text-model'],

  ['javascript', 'code', 'required', 'optional', 'code'],
  ['python', 'code', 'required', 'optional', 'code'],
  ['ruby', 'code', 'required', 'optional', 'code'],
  ['webhook', 'code', 'required', undefined, 'network'],

  ['llm-rubric', 'model', 'optional', 'optional', 'text-model'],
  ['g-eval', 'model', 'required', 0.7, 'prompt', 'text-model'],
  ['model-graded-closedqa', 'model', 'required', undefined, 'prompt', 'text-model'],
  ['factuality', 'model', 'required', undefined, 'prompt', 'text-model'],
  ['model-graded-factuality', 'model', 'required', undefined, 'prompt', 'text-model'],
  ['answer-relevance', 'model', 'none', 0, 'prompt', 'text-model', 'embedding-model'],
  ['context-faithfulness', 'model', 'none', 0, 'text-model'],
  ['context-recall', 'model', 'required', 0, 'prompt', 'text-model'],
  ['context-relevance', 'model', 'none', 0, 'text-model'],
  ['conversation-relevance', 'model', 'none', 0.5, 'text-model'],
  ['similar', 'model', 'required', 0.75, 'embedding-model'],
  ['similar:cosine', 'model', 'required', 0.75, 'embedding-model'],
  ['similar:dot', 'model', 'required', 0.75, 'embedding-model'],
  ['similar:euclidean', 'model', 'required', 0.75, 'embedding-model'],
  ['moderation', 'model', 'optional', undefined, 'prompt', 'moderation-model'],
  ['classifier', 'model', 'optional', 1, 'classification-model'],

  ['select-best', 'rows', 'required', undefined, 'text-model', 'all-rows'],
  ['max-score', 'rows', 'optional', undefined, 'all-rows'],
  ['human', 'rows', 'optional', undefined, 'person'],
];

export const assertionTable: ReadonlyMap<string, AssertionFacts> = new Map(
  rows.map(([type, group, value, threshold, ...needs]) => [
    type,
    {
      type,
      group,
      value,
      ...(threshold === undefined ? {} : { threshold }),
      needs,
      modelGraded: needs.includes('text-model'),
    },
  ]),
);

/** Known to the configs we read, not made here: what to say instead of "unknown". */
export const leftOut: ReadonlyMap<string, string> = new Map([
  ['perplexity', 'log probabilities of the output are not kept; compare with "similar" or "llm-rubric"'],
  ['perplexity-score', 'log probabilities of the output are not kept; compare with "similar" or "llm-rubric"'],
  ['meteor', 'use "rouge-n" or "bleu"'],
  ['gleu', 'use "bleu"'],
  ['pi', 'use "llm-rubric"'],
  ['search-rubric', 'use "llm-rubric" with a provider that searches the web'],
  ['agent-rubric', 'use "llm-rubric" with an agent as its provider'],
]);

export const baseTypeOf = (type: string): string => (type.startsWith('not-') ? type.slice(4) : type);

/** Facts by name, `not-` or not; undefined when there is no such type. */
export const factsOf = (type: string): AssertionFacts | undefined => assertionTable.get(baseTypeOf(type));

/** The threshold a config gave, else the type's default. */
export function thresholdOf(assertion: { readonly type: string; readonly threshold?: number }): number | undefined {
  const fallback = factsOf(assertion.type)?.threshold;
  return assertion.threshold ?? (typeof fallback === 'number' ? fallback : undefined);
}
