/**
 * One provider over the network: a target, a wire format, and the rules that all of them share. Its job: one call, one
 * request, one value. Not its job: retries and waiting (the lane), the wire itself (the formats).
 *
 * 1. `call` never rejects and never throws.
 * 2. Hints are read at the response head and again with the body; a key never shows in what is returned.
 * 3. A content filter, a refusal and a truncation are replies; an unreadable or empty answer is a failure.
 */
import type { EpochMillis, UsdMicros } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ModelRequest, ToolCall } from '../domain/message.ts';
import type { AccountingProfile, CallOptions, Provider } from '../domain/provider.ts';
import type { FinishReason, Outcome, ProviderFailure, RateHints, Reply, Usage } from '../domain/reply.ts';
import type { Clock } from '../platform/clock.ts';
import { cacheKeyOf } from './cache-key.ts';
import {
  classifyAnswer,
  exceptionName,
  type FailureContext,
  failureOf,
  failureOfFault,
  firstLine,
  messageOf,
  wordsOf,
} from './classify-failure.ts';
import type { Vendor } from './failure-rules.ts';
import type { HintDialect } from './hint-headers.ts';
import type { HttpClient, HttpHead, HttpRequest, HttpResponse } from './http-client.ts';
import type { Lane } from './lane-scope.ts';
import { parseJson } from './parse-json.ts';
import type { PriceFunction } from './prices.ts';
import { parseRateLimitHints } from './rate-limit-hints.ts';
import { at } from './read-json.ts';

/** A successful answer, ready for a wire format to read. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly body: Json;
  readonly raw: string;
}

/** What a wire format makes of an answer; the rest of the reply is the same for all. */
export interface ReplyDraft {
  readonly kind: 'draft';
  readonly text: string;
  readonly output: Json;
  readonly toolCalls?: readonly ToolCall[];
  readonly reasoning?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly finishReason: FinishReason;
  readonly finishReasonRaw?: string | undefined;
  readonly servedModel?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly flags?: readonly string[];
  readonly embedding?: readonly number[];
  readonly scores?: Readonly<Record<string, number>>;
  readonly flagged?: boolean;
  readonly metadata?: { readonly [key: string]: Json };
}

/** A problem a format found: in the request before sending, or in the answer. */
export interface FormatProblem {
  readonly kind: 'problem';
  /** `by-status`: an error answer after all, to be told by its status. */
  readonly code: 'invalid_request' | 'bad_response' | 'empty_response' | 'error_answer' | 'program' | 'by-status';
  readonly message: string;
}

export interface WireFormat {
  /** One call as one request; a problem when it cannot be said on this wire. */
  build(
    request: ModelRequest,
    options: CallOptions,
  ): HttpRequest | FormatProblem | Promise<HttpRequest | FormatProblem>;
  /** A 2xx answer as a draft of the reply. */
  read(
    answer: Answer,
    request: ModelRequest,
    options: CallOptions,
  ): ReplyDraft | FormatProblem | Promise<ReplyDraft | FormatProblem>;
  /** True when the body need not be JSON: `body` is then the text. */
  readonly anyBody?: true;
  /** Told of every error answer's head. */
  onError?(head: HttpHead): void;
  /** Which statuses count as answers; 2xx unless told. */
  accepts?(status: number): boolean;
}

export interface NetworkProviderOptions {
  readonly id: string;
  readonly label?: string | undefined;
  readonly model: string;
  readonly vendor: Vendor;
  readonly dialect?: HintDialect;
  readonly lane: Lane;
  readonly accounting: AccountingProfile;
  readonly ceiling: number;
  readonly delayMs?: number | undefined;
  readonly keyVariable?: string | undefined;
  readonly price?: PriceFunction | undefined;
  readonly format: WireFormat;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly timeoutMs?: number | undefined;
  /** The provider's own settings, for the cache key. */
  readonly config: JsonObject;
}

export function createNetworkProvider(options: NetworkProviderOptions): Provider {
  const price: PriceFunction = options.price ?? (() => undefined);
  return {
    id: options.id,
    ...(options.label === undefined ? {} : { label: options.label }),
    model: options.model,
    laneKey: options.lane.laneKey,
    nodes: options.lane.nodes,
    accounting: options.accounting,
    ceiling: options.ceiling,
    ...(options.delayMs === undefined ? {} : { delayMs: options.delayMs }),
    price,
    cacheKey: (request) => keyFor(options, request),
    async call(request, callOptions) {
      try {
        return await callOnce(options, price, request, callOptions);
      } catch (error) {
        return problemFailure('program', error instanceof Error ? error.message : 'unknown error', options.id);
      }
    },
  };
}

/** The request as it would be sent, made and then not sent. */
async function keyFor({ format, config }: NetworkProviderOptions, request: ModelRequest): Promise<string | undefined> {
  try {
    const wire = await format.build(request, { signal: unaborted });
    return 'kind' in wire ? undefined : cacheKeyOf(wire, config, request);
  } catch {
    return undefined;
  }
}

const unaborted = new AbortController().signal;

const failureContext = (options: NetworkProviderOptions, now: EpochMillis): FailureContext => ({
  vendor: options.vendor,
  provider: options.id,
  now,
  ...(options.keyVariable === undefined ? {} : { keyVariable: options.keyVariable }),
});

async function callOnce(
  provider: NetworkProviderOptions,
  price: PriceFunction,
  request: ModelRequest,
  options: CallOptions,
): Promise<Outcome> {
  const built = provider.format.build(request, options);
  const wire = built instanceof Promise ? await built : built;
  if ('kind' in wire) return problemFailure(codeOf(wire), wire.message, provider.id);
  const dialect = provider.dialect ?? 'any';
  let hints: RateHints | undefined;
  const result = await provider.http.send(
    provider.timeoutMs === undefined ? wire : { ...wire, timeoutMs: provider.timeoutMs },
    {
      signal: options.signal,
      onHead: (head) => {
        hints = parseRateLimitHints(head, { dialect, now: provider.clock.now() });
        options.onHead?.(hints);
      },
    },
  );
  const context = failureContext(provider, provider.clock.now());
  if (result.kind === 'fault') return failureOfFault(result, context, hints);
  const clean = withoutSecrets(result, wire);
  const accepted = provider.format.accepts?.(clean.status) ?? (clean.status >= 200 && clean.status < 300);
  if (!accepted) {
    provider.format.onError?.(clean);
    return errorOutcome(clean, context, dialect);
  }
  return readAnswer(provider, price, clean, hints ?? { readings: [] }, request, options, context);
}

/** A server may echo a key, in a 401's sentence or anywhere else; it goes no further than this. */
function withoutSecrets(response: HttpResponse, wire: HttpRequest): HttpResponse {
  let text = response.text;
  for (const name in wire.headers) {
    const value = wire.headers[name];
    if (typeof value === 'object') text = value.secret.removeFrom(text);
  }
  return text === response.text ? response : { ...response, text };
}

async function readAnswer(
  provider: NetworkProviderOptions,
  price: PriceFunction,
  response: HttpResponse,
  hints: RateHints,
  request: ModelRequest,
  options: CallOptions,
  context: FailureContext,
): Promise<Outcome> {
  const parsed = parseJson(response.text);
  if (!parsed.ok && provider.format.anyBody !== true) return unreadable(response, hints, provider.id, parsed.reason);
  const body = parsed.ok ? parsed.value : response.text;
  if (provider.format.anyBody !== true && hasError(body)) {
    return errorOutcome({ ...response, status: innerStatus(body) ?? 500 }, context, provider.dialect ?? 'any');
  }
  const read = provider.format.read(
    { status: response.status, headers: response.headers, body, raw: response.text },
    request,
    options,
  );
  const draft = read instanceof Promise ? await read : read;
  if (draft.kind === 'problem') {
    if (draft.code === 'by-status') return errorOutcome(response, context, provider.dialect ?? 'any');
    return {
      ...problemFailure(codeOf(draft), draft.message, provider.id),
      status: response.status,
      hints,
      raw: response.text,
      billed: 'maybe',
    };
  }
  return finish(draft, response, hints, price, provider);
}

/** Some servers commit to 200 and then say in the body that it failed. */
const hasError = (body: Json): boolean => {
  const error = at(body, 'error');
  const exception = at(body, '__type');
  return (
    (typeof error === 'object' && error !== null) ||
    (typeof error === 'string' && error !== '') ||
    typeof exception === 'string'
  );
};

function innerStatus(body: Json): number | undefined {
  const code = at(body, 'error', 'code') ?? at(body, 'error', 'status');
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}

function errorOutcome(response: HttpResponse, context: FailureContext, dialect: HintDialect): Outcome {
  const parsed = parseJson(response.text);
  const body = parsed.ok ? parsed.value : undefined;
  const hints = parseRateLimitHints({ headers: response.headers, body }, { dialect, now: context.now });
  const exception = exceptionName(String(response.headers['x-amzn-errortype'] ?? ''));
  const answer = {
    status: response.status,
    statusText: response.statusText,
    body,
    raw: response.text,
    hints,
    ...(exception === undefined || exception === '' ? {} : { words: [exception] }),
  };
  const code = classifyAnswer(answer, context);
  if (code !== 'content_filter') return failureOf(answer, code, context);
  const text = `API error: ${response.status} ${response.statusText}\n${body === undefined ? response.text : JSON.stringify(body)}`;
  return {
    kind: 'reply',
    text,
    output: text,
    toolCalls: [],
    finishReason: 'content_filter',
    ...(wordsOf(body)[0] === undefined ? {} : { finishReasonRaw: wordsOf(body)[0] ?? '' }),
    hints,
    status: response.status,
    raw: response.text,
    flags: ['refused-with-an-error'],
    cached: false,
    flagged: true,
    metadata: { message: messageOf(body) ?? '' },
  };
}

function unreadable(response: HttpResponse, hints: RateHints, id: string, reason: string): ProviderFailure {
  const why = {
    depth: 'is nested too deep',
    prototype: 'holds a key that could change prototypes',
    syntax: 'is not JSON',
  }[reason];
  const empty = response.text.trim() === '';
  const message = empty
    ? `${id} answered ${response.status} with nothing in it.`
    : `${id} answered ${response.status}, but the body ${why}: ${firstLine(response.text)}`;
  return {
    kind: 'failure',
    code: empty ? 'empty_response' : 'bad_response',
    message,
    retryable: empty || reason === 'syntax',
    ...(empty || reason === 'syntax' ? { retryOnce: true } : {}),
    status: response.status,
    hints,
    billed: 'maybe',
    raw: response.text,
  };
}

const codeOf = (problem: FormatProblem): Exclude<FormatProblem['code'], 'error_answer' | 'by-status'> | 'transient' =>
  problem.code === 'error_answer' || problem.code === 'by-status' ? 'transient' : problem.code;

const problemFailure = (code: ReturnType<typeof codeOf>, message: string, id: string): ProviderFailure => {
  const again = code === 'bad_response' || code === 'empty_response';
  return {
    kind: 'failure',
    code,
    message: `${id}: ${message}`,
    retryable: again || code === 'transient',
    ...(again ? { retryOnce: true } : {}),
    billed: 'no',
  };
};

function finish(
  draft: ReplyDraft,
  response: HttpResponse,
  hints: RateHints,
  price: PriceFunction,
  provider: NetworkProviderOptions,
): Reply {
  const { text, output, usage } = draft;
  const cost = costOf(draft, price);
  const isWell = text.isWellFormed();
  const reply: Writable<Reply> = {
    kind: 'reply',
    text: isWell ? text : text.toWellFormed(),
    output: typeof output === 'string' && !output.isWellFormed() ? output.toWellFormed() : output,
    toolCalls: draft.toolCalls ?? [],
    finishReason: draft.finishReason,
    hints,
    status: response.status,
    raw: response.text,
    flags: flagsOf(draft, response, provider, isWell),
    cached: false,
  };
  if (usage !== undefined) reply.usage = usage;
  if (cost !== undefined) reply.costUsdMicros = cost;
  if (draft.reasoning !== undefined) reply.reasoning = draft.reasoning;
  if (draft.finishReasonRaw !== undefined) reply.finishReasonRaw = draft.finishReasonRaw;
  if (draft.servedModel !== undefined) reply.servedModel = draft.servedModel;
  if (draft.fingerprint !== undefined) reply.fingerprint = draft.fingerprint;
  if (draft.embedding !== undefined) reply.embedding = draft.embedding;
  if (draft.scores !== undefined) reply.scores = draft.scores;
  if (draft.flagged !== undefined) reply.flagged = draft.flagged;
  if (draft.metadata !== undefined) reply.metadata = draft.metadata;
  if (response.bytes !== undefined) reply.rawBytes = Buffer.from(response.bytes).toString('base64');
  return reply;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Words that took no tokens: the count is wrong, and the price unknown, unless the model is free. */
function costOf(draft: ReplyDraft, price: PriceFunction): UsdMicros | undefined {
  if (draft.usage === undefined) return undefined;
  if (!miscounts(draft)) return price(draft.usage);
  return price({ inputTokens: 1, outputTokens: 1 }) === 0 ? 0 : undefined;
}

const miscounts = ({ usage, text, toolCalls = [] }: ReplyDraft): boolean =>
  usage?.inputTokens === 0 && usage.outputTokens === 0 && (text !== '' || toolCalls.length > 0);

function flagsOf(
  draft: ReplyDraft,
  response: HttpResponse,
  provider: NetworkProviderOptions,
  isWell: boolean,
): readonly string[] {
  const flags = draft.flags === undefined ? [] : [...draft.flags];
  const { usage } = draft;
  if (response.bytes !== undefined) flags.push('invalid-utf8');
  if (!isWell) flags.push('lone-surrogates');
  if (draft.text.includes('\0')) flags.push('nul-in-text');
  if (usage?.inputTokens === undefined || usage.outputTokens === undefined) flags.push('usage-missing');
  if (!namesNoModel.has(provider.vendor) && isSubstituted(provider.model, draft.servedModel))
    flags.push('model-substituted');
  const type = response.headers['content-type'];
  if (provider.format.anyBody !== true && !(typeof type === 'string' && type.includes('json')))
    flags.push('wrong-content-type');
  if (miscounts(draft)) flags.push('usage-zero');
  return flags;
}

/** A deployment's or an address's name says nothing about the model behind it. */
const namesNoModel = new Set<Vendor>(['http', 'azure']);

/** A dated or prefixed name of the same model is no substitution. */
function isSubstituted(asked: string, served: string | undefined): boolean {
  if (served === undefined || served === '' || served === asked) return false;
  const a = asked.split('/').at(-1)?.toLowerCase() ?? '';
  const b = served.split('/').at(-1)?.toLowerCase() ?? '';
  return !(a.startsWith(b) || b.startsWith(a));
}

/** For formats: a usage object, or undefined when nothing was said at all. */
export function usageOf(parts: { readonly [K in keyof Usage]?: number | undefined }): Usage | undefined {
  const said = Object.entries(parts).filter(([, count]) => count !== undefined);
  return said.length === 0 ? undefined : (Object.fromEntries(said) as Usage);
}

export const problem = (code: FormatProblem['code'], message: string): FormatProblem => ({
  kind: 'problem',
  code,
  message,
});
