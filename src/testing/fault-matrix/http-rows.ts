import type { FailureCode } from '../../domain/reply.ts';
import type { Cell, HttpRow, MatrixAdapter, WireReaction } from '../fault-matrix.ts';

type Except = Readonly<Partial<Record<MatrixAdapter, Cell>>>;

const parked = (retryAfterMs: WireReaction['retryAfterMs'] = null): WireReaction => ({
  reaction: 'park',
  outcome: ['rate_limited'],
  retryAfterMs,
  billed: 'no',
});
/** Dates are told in whole seconds, and clocks go on between two looks at them. */
const about = (ms: number): readonly [number, number] => [ms - 5000, ms + 5000];
const retried = (...outcome: FailureCode[]): WireReaction => ({ reaction: 'retry', outcome });
const once = (...outcome: FailureCode[]): WireReaction => ({ reaction: 'retry-once', outcome, billed: 'maybe' });
const failed = (...outcome: FailureCode[]): WireReaction => ({ reaction: 'fail-case', outcome });
const closed = (...outcome: FailureCode[]): WireReaction => ({ reaction: 'close-lane', outcome, billed: 'no' });
const answered = (rest: Partial<WireReaction> = {}): WireReaction => ({
  reaction: 'result',
  outcome: 'reply',
  ...rest,
});
const na = (reason: string): Cell => ({ na: reason });

const each = (adapters: readonly MatrixAdapter[], cell: Cell): Except =>
  Object.fromEntries(adapters.map((adapter) => [adapter, cell]));

const row = (kind: number, variant: string, cell: WireReaction, except: Except = {}): HttpRow => ({
  kind,
  variant,
  cell,
  except,
});

const vectors: readonly MatrixAdapter[] = ['openai-embedding', 'openai-moderation', 'ollama-embeddings'];
const withoutHeaders: readonly MatrixAdapter[] = [
  'bedrock',
  'google',
  'ollama-chat',
  'ollama-completion',
  'ollama-embeddings',
];
const ollama: readonly MatrixAdapter[] = ['ollama-chat', 'ollama-completion', 'ollama-embeddings'];
const wordless: readonly MatrixAdapter[] = ['anthropic', 'bedrock', 'google', ...ollama];

const noLimitHeaders = each(withoutHeaders, na('this vendor sends no limit headers'));
const noBillingCode = each(
  withoutHeaders,
  na('this vendor has no structured code that tells an empty account from a rate limit'),
);
const noWords = each(vectors, na('the answer holds no words of a model'));
const ownParser: Except = {
  http: na("the config's own response parser decides what an answer is, and its failure is typed `program`"),
};
const notStreamed = na('nothing is streamed in this version');

const shown = (variant: string): HttpRow => row(6, variant, parked());
const resets = (variant: string): HttpRow => row(10, variant, { ...parked(), remaining: 0 });
const status = (kind: number, variant: string, cell: WireReaction, except: Except = {}): HttpRow =>
  row(kind, variant, cell, except);

const rateRows: readonly HttpRow[] = [
  row(1, 'seconds', parked([7000, 7000])),
  row(2, 'date', parked(about(7000))),
  row(2, 'skewed-clock', parked([7000, 7000])),
  row(3, 'both', parked([350, 350])),
  row(3, 'invalid-ms', parked([7000, 7000])),
  row(4, 'none', parked()),
  row(5, 'zero', parked([0, 0])),
  ...['negative', 'nan', 'exponent', 'fraction', 'unit', 'empty'].map(shown),
  row(7, 'two-days', parked([198_300_000, 198_300_000])),
  row(7, 'three-days', parked([277_403_000, 277_403_000])),
  row(8, 'thirty-days', parked([2_592_000_000, 2_592_000_000])),
  row(9, 'past', parked([0, 0])),
  row(9, 'day-ahead', parked([7000, 7000])),
  row(9, 'year-behind', parked([7000, 7000])),
  ...['minutes', 'seconds', 'milliseconds', 'epoch-s', 'epoch-ms', 'iso'].map(resets),
  row(10, 'contradictory', { ...parked(), remaining: 37 }),
  row(11, 'storm', parked()),
  row(12, 'tokens', { ...parked([3000, 3000]), remaining: 480 }),
  row(13, 'insufficient_quota', closed('billing'), noBillingCode),
  row(13, 'monthly', closed('billing'), noBillingCode),
  row(14, 'key', parked([1000, 1000])),
  row(15, 'lowered', answered({ remaining: 29 }), noLimitHeaders),
  row(16, 'empty', answered({ remaining: 0 }), noLimitHeaders),
];

const serverRows: readonly HttpRow[] = [
  status(17, '500', retried('transient')),
  status(18, '502', retried('overloaded')),
  status(18, '503', retried('overloaded')),
  status(18, '504', retried('overloaded', 'transient')),
  status(19, '529', retried('overloaded')),
  status(20, '520', retried('overloaded')),
  status(20, '522', retried('overloaded')),
  status(20, '524', retried('overloaded')),
  status(21, '408', retried('transient')),
  status(21, '409', retried('transient')),
  status(21, '425', retried('transient')),
  status(22, 'should-not', failed('transient')),
  status(23, 'outage', retried('overloaded')),
  ...['301', '302', '307', '308', 'metadata'].map((variant) => row(24, variant, failed('redirect'))),
  row(25, 'html', once('bad_response')),
  ...['error', 'finish', 'status'].map((variant) => row(26, variant, retried('overloaded', 'transient'), ownParser)),
  row(27, 'empty', once('empty_response')),
  row(27, '204', once('empty_response')),
  row(28, 'text', answered({ flags: ['wrong-content-type'] }), { http: answered() }),
];

const unharmedVectors = each(vectors, na('the harmed place is in the words, and the answer has none'));

const transportRows: readonly HttpRow[] = [
  row(29, 'nxdomain', failed('unreachable')),
  row(30, 'refused', retried('transient')),
  row(31, 'self-signed', failed('unreachable')),
  row(32, 'reset', retried('transient')),
  row(33, 'reset', { ...retried('transient'), billed: 'maybe' }),
  row(34, 'hang', { ...retried('timeout'), billed: 'maybe' }),
  row(35, 'drip', { ...retried('timeout'), billed: 'maybe' }),
  row(36, 'hang', { ...retried('timeout'), billed: 'maybe' }),
  row(37, 'longer', { ...retried('transient'), billed: 'maybe' }),
  row(37, 'shorter', once('bad_response')),
  row(38, 'half', once('bad_response')),
  row(39, 'endless', failed('bad_response')),
  row(40, 'gzip', failed('bad_response')),
  row(41, 'byte', answered({ flags: ['invalid-utf8'] }), unharmedVectors),
  row(42, 'surrogate', answered({ flags: ['lone-surrogates'] }), unharmedVectors),
  row(42, 'nul', answered({ flags: ['nul-in-text'] }), unharmedVectors),
  row(42, 'bom', answered()),
  row(43, 'deep', failed('bad_response'), { http: once('bad_response') }),
  row(44, 'proto', failed('bad_response'), { http: once('bad_response') }),
  row(44, 'duplicate', answered()),
  row(45, 'bad-chunk', retried('transient')),
  row(45, 'no-final-chunk', retried('transient')),
  row(45, 'stale', answered()),
];

const streamRows: readonly HttpRow[] = (
  [
    [46, 'stall'],
    [47, 'error'],
    [48, 'no-end'],
    [49, 'split'],
    [50, 'idle'],
    [51, 'no-usage'],
  ] as const
).map(([kind, variant]) => {
  const every: readonly MatrixAdapter[] = [
    ...(['openai-chat', 'openai-responses', 'openai-completion', 'openai-embedding', 'openai-moderation'] as const),
    ...(['openai-compatible', 'azure', 'anthropic', 'bedrock', 'google', 'http'] as const),
    ...ollama,
  ];
  return row(kind, variant, retried('transient'), each(every, notStreamed));
});

const noUsage = each(['openai-moderation', 'ollama-embeddings'], na('this answer carries no usage and costs nothing'));
const noRefusal = each(['openai-completion', ...ollama, ...vectors], na('this format has no word for a refusal'));
const noFilter = each([...ollama, ...vectors], na('this format has no word for a content filter'));
const sameModel = each(['bedrock', 'ollama-embeddings'], na('this format does not say which model answered'));
const aliased: Except = { azure: answered() };

const semanticRows: readonly HttpRow[] = [
  row(52, 'absent', answered({ flags: ['usage-missing'], costUnknown: true }), noUsage),
  row(52, 'zero', answered({ flags: ['usage-zero'], costUnknown: true }), {
    ...each(['ollama-chat', 'ollama-completion'], answered({ flags: ['usage-zero'] })),
    ...noUsage,
    'openai-embedding': answered(),
  }),
  row(52, 'negative', answered({ costUnknown: true }), noUsage),
  row(53, 'empty', once('empty_response'), {
    ...ownParser,
  }),
  row(54, 'reasoning', answered(), { ...noWords, 'openai-completion': na('this format has no reasoning') }),
  row(55, 'finish', answered({ finish: ['content_filter'] }), { ...noFilter, ...ownParser }),
  row(55, 'status', answered({ finish: ['content_filter'] }), {
    ...each(wordless, na('this vendor filters by finish reason, not by status')),
  }),
  row(56, 'refusal', answered({ finish: ['refusal', 'content_filter'] }), { ...noRefusal, ...ownParser }),
  row(57, 'length', answered({ finish: ['length'] }), { ...noWords, ...ownParser }),
  row(58, '400', failed('context_length'), {
    ...each(wordless, failed('context_length', 'invalid_request')),
  }),
  row(59, '401', closed('auth')),
  row(59, '403', closed('auth')),
  row(60, '403', closed('region_blocked'), {
    ...each(['anthropic', 'bedrock', ...ollama], closed('region_blocked', 'auth')),
  }),
  row(61, 'missing', closed('not_found')),
  row(61, 'substituted', answered({ flags: ['model-substituted'] }), { ...sameModel, ...aliased, ...ownParser }),
  row(62, '400', failed('invalid_request')),
  row(62, '422', failed('invalid_request')),
  row(63, 'model', answered({ flags: ['model-substituted'] }), { ...sameModel, ...aliased, ...ownParser }),
  row(63, 'replayed', answered()),
  row(64, 'skew', closed('auth'), {
    ...each(
      (
        ['openai-chat', 'openai-responses', 'openai-completion', 'openai-embedding', 'openai-moderation'] as const
      ).concat(),
      na('requests are not signed'),
    ),
    ...each(['openai-compatible', 'azure', 'anthropic', 'google', 'http', ...ollama], na('requests are not signed')),
    bedrock: { reaction: 'retry-once', outcome: ['transient'], billed: 'no' },
  }),
];

/** Kinds 1 to 64, each in all its forms. */
export const httpRows: readonly HttpRow[] = [
  ...rateRows,
  ...serverRows,
  ...transportRows,
  ...streamRows,
  ...semanticRows,
];
