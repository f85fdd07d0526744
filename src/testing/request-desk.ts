/**
 * Job: one recognised request's way through the server: limits, faults, latency, answer, books.
 * Not its job: sockets' lifecycle (fault-server.ts), vendor formats (wires/), what a fault is (fault-kinds/).
 *
 * 1. Headers tell the buckets as they were when the request was admitted.
 * 2. A request that meets an error fault takes nothing from the buckets.
 * 3. An answer is on the bill from the moment the server begins to work on it, delivered or not.
 * 4. Whatever is taken from a scope's concurrency is given back once: when the answer or the connection ends.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import type { RuleState } from './behaviour.ts';
import type { FaultAct } from './fault-act.ts';
import { harmedText } from './fault-kinds/transport-faults.ts';
import type { LedgerEntry } from './ledger.ts';
import { type HeaderStyle, limitHeaders, retryHeaders } from './limit-headers.ts';
import type { Admission } from './limit-scope.ts';
import { tokensOf } from './read-request.ts';
import { replyTo, type ServerReply } from './replies.ts';
import type { SeenRequest } from './seen-request.ts';
import { countUp, type KeyStatistics } from './statistics.ts';
import { writeStream } from './stream.ts';
import { harms } from './transport-harm.ts';
import { errorClassOf, refusalText, retryStyleOf, styleOf } from './vendor-manners.ts';
import type { CountedReply, ServerError, Wire } from './wires/wire.ts';

/** Everything about one request while it is being answered. */
export interface Visit {
  readonly request: SeenRequest;
  readonly wire: Wire;
  readonly rule: RuleState;
  readonly response: ServerResponse;
  readonly statistics: KeyStatistics;
  readonly entry: LedgerEntry;
  /** Set before the server breaks a connection on purpose, so that the client is not blamed. */
  brokenByServer: boolean;
}

export interface DeskContext {
  readonly clock: Clock;
  /** Where a redirect of this server leads. */
  readonly redirectTarget: () => string;
  readonly markStale: (response: ServerResponse) => void;
  /** Remembers when a key was told to come back. */
  readonly tellWait: (key: string, until: number) => void;
  readonly lastReply: Map<string, string>;
}

type Headers = Record<string, string>;

const open: Admission = { refusal: undefined, readings: {}, settle: () => {} };
/** Answers about this long are expected when a bucket reserves before the answer is known. */
const expectedOutput = 16;

const styleFor = (visit: Visit): HeaderStyle => visit.rule.rule.headers ?? styleOf(visit.request.wire);

function send(visit: Visit, status: number, headers: Headers, body: string | Buffer): void {
  const { response, entry, statistics } = visit;
  if (response.destroyed) return;
  entry.status = status;
  countUp(statistics.statuses, String(status));
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
  response.end(body);
}

function sendError(visit: Visit, told: ServerError, headers: Headers): void {
  const error = { ...told, status: visit.wire.statusOf?.(told) ?? told.status };
  visit.entry.billed = false;
  const own = visit.wire.errorHeaders?.(error) ?? {};
  send(visit, error.status, { ...own, ...headers }, JSON.stringify(visit.wire.writeError(error)));
}

function refuse(visit: Visit, admission: Admission, context: DeskContext): void {
  const { refusal } = admission;
  if (refusal === undefined) return;
  const now = context.clock.now();
  const style = styleFor(visit);
  const retry = visit.rule.rule.retry ?? retryStyleOf(style);
  if (retry !== 'none' && Number.isFinite(refusal.waitMs)) context.tellWait(visit.request.key, now + refusal.waitMs);
  const message = refusalText(refusal, visit.request.model);
  const error: ServerError = { status: 429, class: errorClassOf(refusal), message, retryAfterMs: refusal.waitMs };
  const hints = refusal.resource === 'concurrency' ? {} : retryHeaders(retry, refusal.waitMs, now);
  sendError(visit, error, { ...limitHeaders(style, admission.readings, now), ...hints });
}

function count(reply: ServerReply, request: SeenRequest): CountedReply {
  const text = reply.text ?? '';
  const spoken = text + (reply.toolCalls ?? []).map((call) => call.arguments).join('');
  return {
    ...reply,
    text,
    finish: reply.finish ?? (reply.toolCalls?.length ? 'tool_calls' : 'stop'),
    model: reply.model ?? request.model,
    inputTokens: reply.usage?.input ?? request.inputTokens,
    outputTokens: reply.usage?.output ?? tokensOf(spoken),
  };
}

/** Everything of an answer that is decided before its bytes are written. */
interface Answer {
  readonly reply: CountedReply;
  readonly act: FaultAct;
  readonly headers: Headers;
}

/** Harms that wait for the client to give up. */
const patient: ReadonlySet<string> = new Set(['hang', 'drip', 'endless', 'gzip-bomb']);

function sendBody(visit: Visit, headers: Headers, body: string | Buffer, context: DeskContext): void {
  const { response, rule } = visit;
  const { bodyDelayMs } = rule.rule;
  if (!bodyDelayMs) {
    send(visit, 200, headers, body);
    return;
  }
  visit.entry.status = 200;
  countUp(visit.statistics.statuses, '200');
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.flushHeaders();
  const cancel = context.clock.at(context.clock.now() + bodyDelayMs, () => response.end(body));
  response.on('close', cancel);
}

function sendJson(visit: Visit, { reply, act, headers }: Answer, context: DeskContext): void {
  const altered = act.do === 'reply' ? act : undefined;
  const json = JSON.stringify(visit.wire.write(reply, altered?.quirks ?? {}, visit.request));
  if (act.do === 'transport' && act.harm !== 'stale-connection') {
    countUp(visit.statistics.statuses, 'harmed');
    const dripMs = visit.rule.rule.dripMs ?? 10;
    visit.brokenByServer = !patient.has(act.harm);
    harms[act.harm]({ response: visit.response, body: json, clock: context.clock, dripMs });
    return;
  }
  if (act.do === 'transport') context.markStale(visit.response);
  const replayed = altered?.replayed ? context.lastReply.get(visit.request.key) : undefined;
  const body = replayed ?? altered?.spoil?.(json) ?? json;
  if (typeof body === 'string' && visit.rule.rule.faults) context.lastReply.set(visit.request.key, body);
  sendBody(visit, headers, body, context);
}

function sendReply(visit: Visit, admission: Admission, reply: CountedReply, act: FaultAct, context: DeskContext): void {
  if (visit.response.destroyed) return;
  const altered = act.do === 'reply' ? act : undefined;
  const readings = altered?.readings ?? admission.readings;
  const headers = { ...limitHeaders(styleFor(visit), readings, visit.request.at), ...altered?.headers };
  if (visit.request.stream || act.do === 'stream') {
    countUp(visit.statistics.statuses, '200');
    writeStream(visit, reply, act.do === 'stream' ? act.harm : undefined, headers);
  } else {
    sendJson(visit, { reply, act, headers }, context);
  }
}

function answerError(visit: Visit, act: FaultAct, context: DeskContext): boolean {
  if (act.do === 'error') {
    sendError(visit, act.error, act.headers ?? {});
  } else if (act.do === 'verbatim') {
    visit.entry.billed = act.status === 200;
    send(visit, act.status, act.headers, act.body);
  } else if (act.do === 'redirect') {
    visit.entry.billed = false;
    const location = act.to === 'metadata' ? 'http://169.254.169.254/latest/meta-data/' : context.redirectTarget();
    send(visit, act.status, { location }, '{"error":{"message":"moved"}}');
  } else if (act.do === 'transport' && act.harm === 'reset-before-head') {
    visit.entry.billed = false;
    countUp(visit.statistics.statuses, 'harmed');
    visit.brokenByServer = true;
    visit.response.socket?.resetAndDestroy();
  } else {
    return false;
  }
  return true;
}

/** The reply that a fault alters, or the programmed one. */
function replyFor(visit: Visit, act: FaultAct): ServerReply | Promise<ServerReply> {
  const { rule, request } = visit;
  const programmed = replyTo(rule.replies, request, rule.answered);
  rule.answered += 1;
  if (act.do !== 'reply') return programmed;
  const base = act.spoil ? { text: harmedText } : undefined;
  const merge = (reply: ServerReply): ServerReply => ({ ...(base ?? reply), ...act.reply });
  return programmed instanceof Promise ? programmed.then(merge) : merge(programmed);
}

const plain: FaultAct = { do: 'reply' };

/** Makes the answer, once the time for it has come. */
function begin(visit: Visit, act: FaultAct, admission: Admission, context: DeskContext): void {
  if (answerError(visit, act, context)) return;
  const finish = (given: ServerReply): void => {
    const counted = count(given, visit.request);
    visit.entry.inputTokens = counted.inputTokens;
    visit.entry.outputTokens = counted.outputTokens;
    sendReply(visit, admission, counted, act, context);
  };
  const reply = replyFor(visit, act);
  if (!(reply instanceof Promise)) {
    finish(reply);
    return;
  }
  reply.then(finish, (error: unknown) =>
    sendError(visit, { status: 500, class: 'server', message: `The reply callback failed: ${String(error)}` }, {}),
  );
}

/** Answers one request. */
export function serve(visit: Visit, context: DeskContext): void {
  const { request, rule, response, entry, statistics } = visit;
  rule.turn += 1;
  const fault = rule.faultOf(rule.turn, request.at);
  const act = fault?.act ?? plain;
  entry.fault = fault?.name;
  if (fault) countUp(statistics.faults, fault.name);
  const isError = act.do === 'error' || act.do === 'verbatim' || act.do === 'redirect';
  const weight = { inputTokens: request.inputTokens, maxTokens: request.maxTokens, expectedOutput };
  const admission = isError ? open : (rule.scopeOf(request)?.admit(weight, request.at) ?? open);
  if (admission.refusal) {
    refuse(visit, admission, context);
    return;
  }
  entry.billed = !isError;
  entry.inputTokens = request.inputTokens;
  const latency = rule.drawLatency();
  const cancel =
    latency > 0 ? context.clock.at(request.at + latency, () => begin(visit, act, admission, context)) : undefined;
  response.on('close', () => {
    cancel?.();
    admission.settle(context.clock.now(), entry.inputTokens, entry.outputTokens);
  });
  if (!cancel) begin(visit, act, admission, context);
}
