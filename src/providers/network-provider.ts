/**
 * One provider over the network: a target, a wire format, and the rules that all of them share. Its job: one call, one
 * request, one value. Not its job: retries and waiting (the lane), the wire itself (the formats).
 *
 * 1. `call` never rejects and never throws.
 * 2. Hints are read at the response head and again with the body; a key never shows in what is returned.
 * 3. A content filter, a refusal and a truncation are replies; an unreadable or empty answer is a failure.
 */
import type { EpochMillis } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ModelRequest } from '../domain/message.ts';
import { outputLimit } from '../domain/output-limit.ts';
import type { AccountingProfile, CallOptions, Provider } from '../domain/provider.ts';
import type { Outcome, ProviderFailure, RateHints } from '../domain/reply.ts';
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
import { finishReply } from './finish-reply.ts';
import type { HintDialect } from './hint-headers.ts';
import type { HttpClient, HttpRequest, HttpResponse } from './http-client.ts';
import type { Lane } from './lane-scope.ts';
import { parseJson } from './parse-json.ts';
import type { PriceFunction } from './prices.ts';
import { parseRateLimitHints } from './rate-limit-hints.ts';
import { at } from './read-json.ts';
import type { FormatProblem, WireFormat } from './wire-format.ts';

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

/** What the user's own settings allow an answer counts over what the vendor assumes. */
const accountingOf = ({ accounting, config }: NetworkProviderOptions): AccountingProfile => {
  const limit = outputLimit(config);
  return limit === undefined ? accounting : { ...accounting, defaultMaxTokens: limit };
};

export function createNetworkProvider(options: NetworkProviderOptions): Provider {
  const price: PriceFunction = options.price ?? (() => undefined);
  return {
    id: options.id,
    ...(options.label === undefined ? {} : { label: options.label }),
    model: options.model,
    laneKey: options.lane.laneKey,
    nodes: options.lane.nodes,
    accounting: accountingOf(options),
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
  return finishReply(draft, response, hints, price, provider);
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
