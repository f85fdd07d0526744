/**
 * The one way to the network. Its job: one request becomes one value, under all network rules. Not its job: retrying,
 * reading bodies, knowing vendors.
 *
 * 1. Nothing is thrown: whatever happens is an `HttpResult`.
 * 2. One call is one wire request. Redirects are not followed and nothing is sent twice.
 * 3. A call ends by its total deadline, and when its body stalls; an abort destroys the socket at once.
 * 4. At most 16 MB of decoded body is held, and a body may not grow more than 200-fold by decompression.
 * 5. TLS is always verified. Link-local and metadata addresses are refused, written or resolved.
 * 6. A key is put in at the socket, and only for the origin it is bound to.
 */
import { isUtf8 } from 'node:buffer';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../platform/clock.ts';
import { blockedAddressCode, guardedLookup, isBlockedHost, type ResolveName } from './blocked-addresses.ts';
import { decodeBody, largestBody } from './decode-body.ts';
import type { SecretHeader } from './secret.ts';

export type HeaderValue = string | SecretHeader;
/** Response headers by lower-case name; repeated ones joined with ", ". */
export type HeaderTable = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly body?: string | Uint8Array;
  /** From start to the last byte; 5 minutes unless told. */
  readonly timeoutMs?: number;
}

export interface HttpHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderTable;
}

export interface HttpOptions {
  readonly signal: AbortSignal;
  readonly onHead?: (head: HttpHead) => void;
}

export interface HttpResponse extends HttpHead {
  readonly kind: 'response';
  readonly text: string;
  /** The body's own bytes, kept only when they are not valid UTF-8 and `text` therefore lost something. */
  readonly bytes?: Uint8Array;
}

export type HttpFaultCode =
  | 'aborted'
  | 'deadline'
  | 'idle'
  | 'too-large'
  | 'bad-encoding'
  | 'name-unknown'
  | 'refused'
  | 'tls'
  | 'reset'
  | 'blocked-address'
  | 'foreign-key'
  | 'invalid-request'
  | 'other';

export interface HttpFault {
  readonly kind: 'fault';
  readonly code: HttpFaultCode;
  /** The system's own code, such as `ECONNRESET`. */
  readonly detail: string;
  /** Whether the request may have reached the server. */
  readonly sent: boolean;
  /** Whether the response head had arrived. */
  readonly answered: boolean;
}

export type HttpResult = HttpResponse | HttpFault;

export interface HttpClient {
  send(request: HttpRequest, options: HttpOptions): Promise<HttpResult>;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface HttpClientOptions {
  readonly clock: Clock;
  /** Longest silence while connecting, 10 seconds unless told. */
  readonly connectMs?: number;
  /** Longest silence within a body, 60 seconds unless told. */
  readonly idleMs?: number;
  /** Total deadline of calls that name none. */
  readonly timeoutMs?: number;
  /** Certificates to trust besides the system's, as PEM. Verification itself cannot be turned off. */
  readonly extraCertificates?: string;
  /** How names become addresses; what it gives is guarded like the system's own answers. */
  readonly resolveName?: ResolveName;
}

/** An HTTP client with keep-alive connections per origin. Close it when the run is over. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const idleMs = options.idleMs ?? 60_000;
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: idleMs,
    connect: {
      lookup: guardedLookup(options.resolveName),
      timeout: options.connectMs ?? 10_000,
      rejectUnauthorized: true,
      ...(options.extraCertificates === undefined ? {} : { ca: options.extraCertificates }),
    },
  });
  const defaultTimeoutMs = options.timeoutMs ?? 300_000;
  return {
    send: (request, callOptions) => sendOnce(agent, options.clock, defaultTimeoutMs, request, callOptions),
    close: () => agent.destroy(),
  };
}

const fault = (code: HttpFaultCode, detail: string, sent = false, answered = false): HttpFault => ({
  kind: 'fault',
  code,
  detail,
  sent,
  answered,
});

function sendOnce(
  agent: Agent,
  clock: Clock,
  defaultTimeoutMs: number,
  request: HttpRequest,
  options: HttpOptions,
): Promise<HttpResult> {
  const { url } = request;
  if (options.signal.aborted) return Promise.resolve(fault('aborted', 'before the request'));
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return Promise.resolve(fault('invalid-request', `protocol ${url.protocol}`));
  if (isBlockedHost(url.hostname)) return Promise.resolve(fault('blocked-address', url.hostname));
  const headers = resolveHeaders(request.headers, url.origin);
  if (headers === undefined) return Promise.resolve(fault('foreign-key', url.origin));
  return new Promise((resolve) => {
    const exchange = new Exchange(resolve, options);
    const cancelDeadline = clock.at(clock.now() + (request.timeoutMs ?? defaultTimeoutMs), () =>
      exchange.stop('deadline', 'deadline'),
    );
    const onAbort = (): void => exchange.stop('aborted', 'aborted');
    options.signal.addEventListener('abort', onAbort, { once: true });
    exchange.onSettled = () => {
      cancelDeadline();
      options.signal.removeEventListener('abort', onAbort);
    };
    try {
      agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: request.method as Dispatcher.HttpMethod,
          headers,
          body: request.body ?? null,
        },
        exchange,
      );
    } catch (error) {
      exchange.settle(fault('invalid-request', detailOf(error)));
    }
  });
}

function resolveHeaders(headers: HttpRequest['headers'], origin: string): Record<string, string> | undefined {
  const resolved: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') {
      resolved[name] = value;
      continue;
    }
    const key = value.secret.revealFor(origin);
    if (key === undefined) return undefined;
    resolved[name] = value.prefix + key;
  }
  return resolved;
}

/** One request and its response, from dispatch until it is settled exactly once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (result: HttpResult) => void;
  readonly #options: HttpOptions;
  onSettled: () => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #head: HttpHead | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Once true, nothing that undici still reports matters. */
  #settled = false;

  constructor(resolve: (result: HttpResult) => void, options: HttpOptions) {
    this.#resolve = resolve;
    this.#options = options;
  }

  settle(result: HttpResult): void {
    if (this.#settled) return;
    this.#settled = true;
    this.onSettled();
    this.#resolve(result);
  }

  /** Ends it from our side: the value first, then the socket. */
  stop(code: HttpFaultCode, detail: string): void {
    this.settle(fault(code, detail, this.#controller !== undefined, this.#head !== undefined));
    this.#controller?.abort(new Error(detail));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('already over'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HeaderTable,
    statusText?: string,
  ): void {
    if (status < 200) return;
    this.#head = { status, statusText: statusText ?? '', headers };
    if (!this.#settled) this.#options.onHead?.(this.#head);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > largestBody) this.stop('too-large', `more than ${largestBody} bytes`);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const head = this.#head;
    if (head === undefined) {
      this.settle(fault('reset', 'no response head', true));
      return;
    }
    const body = this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    const encoding = head.headers['content-encoding'];
    if (encoding === undefined || body.length === 0) {
      this.settle(responseOf(head, body));
      return;
    }
    decodeBody(body, String(encoding), (decoded) => {
      if (decoded instanceof Uint8Array) this.settle(responseOf(head, decoded));
      else this.settle(fault(decoded.code, decoded.detail, true, true));
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.settle(faultOf(error, this.#controller !== undefined, this.#head !== undefined));
  }
}

function responseOf(head: HttpHead, body: Buffer): HttpResponse {
  const text = body.toString('utf8');
  const response = { kind: 'response' as const, ...head, text };
  return isUtf8(body) ? response : { ...response, bytes: body };
}

const faultByCode: Readonly<Record<string, HttpFaultCode>> = {
  ENOTFOUND: 'name-unknown',
  EAI_AGAIN: 'refused',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  ETIMEDOUT: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_BODY_TIMEOUT: 'idle',
  UND_ERR_HEADERS_TIMEOUT: 'idle',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  UND_ERR_RESPONSE: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  UND_ERR_INVALID_ARG: 'invalid-request',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'invalid-request',
  UND_ERR_NOT_SUPPORTED: 'invalid-request',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  [blockedAddressCode]: 'blocked-address',
};

const neverSent = new Set<HttpFaultCode>(['name-unknown', 'refused', 'tls', 'blocked-address', 'invalid-request']);

function faultOf(error: Error, started: boolean, answered: boolean): HttpFault {
  const detail = detailOf(error);
  const code = faultByCode[detail] ?? familyOf(detail);
  return fault(code, detail, started && !neverSent.has(code), answered);
}

const familyOf = (detail: string): HttpFaultCode => {
  if (/^(?:ERR_TLS_|ERR_SSL_|CERT_)/.test(detail)) return 'tls';
  return detail.startsWith('HPE_') ? 'reset' : 'other';
};

function detailOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return detailOf(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown';
  const { code, cause } = error as Error & { code?: unknown };
  if (typeof code === 'string' && code !== 'UND_ERR_SOCKET') return code;
  if (cause instanceof Error) return detailOf(cause);
  return typeof code === 'string' ? code : error.name;
}
