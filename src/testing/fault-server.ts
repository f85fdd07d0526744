import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import type { BehaviourRule } from './behaviour.ts';
import { answerControl } from './control-api.ts';
import type { LedgerEntry } from './ledger.ts';
import { readRequest } from './read-request.ts';
import { keyOf, type Recognised, recognise } from './recognise.ts';
import { type DeskContext, serve, type Visit } from './request-desk.ts';
import type { SeenRequest } from './seen-request.ts';
import { selfSignedCertificate } from './self-signed.ts';
import { type FaultServerOptions, ServerState } from './server-state.ts';
import type { KeyStatistics, ServerStatistics } from './statistics.ts';

export type { FaultServerOptions };

/** A running server. */
export interface FaultServer {
  /** `http://127.0.0.1:<port>`; append any prefix, the format is chosen by how the path ends. */
  readonly url: string;
  readonly port: number;
  /** Live numbers; copy what must not change. */
  readonly statistics: ServerStatistics;
  readonly ledger: readonly LedgerEntry[];
  /** The numbers of one key; zeros when it was never seen. */
  key(key: string): KeyStatistics;
  /** Adds a rule in front of all others, with counters and buckets of its own. */
  behave(rule: BehaviourRule): void;
  /** Forgets statistics, ledger, buckets and script positions; rules stay. */
  reset(): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const controlPrefix = '/__fault-server/';
const redirectPath = '/__redirected';

function newEntry(request: SeenRequest): LedgerEntry {
  const { number, at, key, model, wire, promptHash, idempotencyKey } = request;
  return {
    number,
    at,
    key,
    model,
    wire,
    promptHash,
    idempotencyKey,
    fault: undefined,
    status: 0,
    inputTokens: 0,
    outputTokens: 0,
    billed: false,
    delivered: false,
    endedAt: undefined,
  };
}

/** Follows a response to its end: who ended it, and whether it arrived. */
function watch(visit: Visit, clock: Clock): void {
  const { response, statistics, entry } = visit;
  response.on('close', () => {
    statistics.inFlight -= 1;
    entry.endedAt = clock.now();
    entry.delivered = response.writableFinished;
    if (response.writableFinished || visit.brokenByServer) return;
    statistics.closedByClient += 1;
    statistics.closedAt.push(entry.endedAt);
  });
}

function readBody(request: IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString('utf8') ?? ''));
}

function arrive(state: ServerState, context: DeskContext, request: IncomingMessage, response: ServerResponse): void {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  if (state.isStale(request.socket)) {
    request.socket.resetAndDestroy();
    return;
  }
  const recognised = recognise(path);
  readBody(request, (text) => {
    if (path.startsWith(controlPrefix)) return answerControl(path.slice(controlPrefix.length), text, state, response);
    if (recognised === undefined) return answerStranger(state, path, request, response);
    answer(state, context, recognised, { path, query, text, request, response });
  });
}

function answerStranger(state: ServerState, path: string, request: IncomingMessage, response: ServerResponse): void {
  const { authorization, 'x-api-key': named, 'api-key': azure, 'x-goog-api-key': google } = request.headers;
  if (path === redirectPath) {
    state.statistics.redirectsFollowed += 1;
    state.key(keyOf(request.headers, '')).redirectsFollowed += 1;
    if (authorization ?? named ?? azure ?? google) state.statistics.credentialsForwarded += 1;
  } else {
    state.statistics.unrecognised += 1;
  }
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: `No vendor format ends with ${path}`, code: 'unknown_path' } }));
}

interface Arrived {
  readonly path: string;
  readonly query: string;
  readonly text: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function answer(state: ServerState, context: DeskContext, recognised: Recognised, arrived: Arrived): void {
  const { path, query, text, request, response } = arrived;
  state.statistics.requests += 1;
  const keyNumber = (key: string): number => state.key(key).requests + 1;
  const arrival = {
    number: state.statistics.requests,
    keyNumber,
    at: state.clock.now(),
    path,
    query,
    headers: request.headers,
  };
  const seen = readRequest(arrival, recognised, text);
  const statistics = state.meet(seen, request.socket);
  const entry = newEntry(seen);
  state.ledger.push(entry);
  const rule = state.ruleOf(seen);
  const { wire } = recognised;
  const visit: Visit = { request: seen, wire, rule, response, statistics, entry, brokenByServer: false };
  watch(visit, state.clock);
  serve(visit, context);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Starts a server on 127.0.0.1 that speaks the formats of all vendors, with limits, latency and faults as told. */
export async function startFaultServer(options: FaultServerOptions = {}): Promise<FaultServer> {
  const state = new ServerState(options);
  let url = '';
  const context: DeskContext = {
    clock: state.clock,
    redirectTarget: () => `${url}${redirectPath}`,
    markStale: (response) => state.markStale(response),
    tellWait: (key, until) => state.tellWait(key, until),
    lastReply: state.lastReply,
  };
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    // Dates in headers must come from the same clock as everything else.
    if (options.clock) response.setHeader('date', new Date(state.clock.now()).toUTCString());
    arrive(state, context, request, response);
  };
  const settings = { keepAliveTimeout: 120_000, requestTimeout: 0, headersTimeout: 0, noDelay: true };
  const server = options.tls
    ? createTlsServer({ ...selfSignedCertificate(), ...settings }, handler)
    : createServer(settings, handler);
  server.on('connection', () => {
    state.statistics.connections += 1;
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  const port = await listen(server, options.port ?? 0);
  url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const close = (): Promise<void> => closeServer(server);
  return {
    url,
    port,
    get statistics() {
      return state.statistics;
    },
    get ledger() {
      return state.ledger;
    },
    key: (key) => state.key(key),
    behave: (rule) => state.behave(rule),
    reset: () => state.reset(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
