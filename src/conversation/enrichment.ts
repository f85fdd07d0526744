import type { Effects } from '../domain/effects.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { HttpPort } from '../tools/http-port.ts';
import { unsafeIn } from '../tools/parse-arguments.ts';

/**
 * Variable enrichment by webhook. Its job: ask, check what came back as data from a stranger, merge. Not its job: what
 * happens when it failed; that is the policy, applied by the caller.
 */
export interface EnrichmentSettings {
  /** Asked for the variables of the scenario's `client_id`. */
  readonly url?: string;
  /** Asked for a session id when the first one gave none. */
  readonly session_url?: string;
  /** On failure: end the conversation, go on with the scenario's values and a warning, or leave the scenario out. */
  readonly policy?: 'fail' | 'continue' | 'skip';
  readonly timeout_sec?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The sessions that are live in this process. */
export interface LiveSessions {
  /** Takes the id; false when it is taken. */
  claim(id: string): boolean;
  release(id: string): void;
}

export function liveSessions(): LiveSessions {
  const live = new Set<string>();
  return {
    claim: (id) => !live.has(id) && live.add(id).size > 0,
    release: (id) => void live.delete(id),
  };
}

export interface WebhookPorts {
  readonly http: HttpPort;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly liveSessions?: LiveSessions;
}

export type WebhookAnswer =
  | { readonly variables: JsonObject; readonly sessionId?: string }
  | { readonly fault: string };

const largest = 1024 * 1024;
const tries = 3;
const worthAnother = new Set([502, 503, 504]);
/** What may be a session id: nothing that means something in a path, a header or a template. */
const sessionId = /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

/** Asks the enrichment webhook for the variables of a client. */
export function askForVariables(
  clientId: string,
  scenario: string,
  settings: EnrichmentSettings,
  url: string,
  effects: Effects,
  ports: WebhookPorts,
): Promise<WebhookAnswer> {
  const body = { call_inbound: { from_number: clientId, scenario } };
  return ask('start/enrichment', url, body, settings, effects, ports, readVariables);
}

/** Asks the session webhook for a session id. */
export function askForSession(
  clientId: string | undefined,
  scenario: string,
  settings: EnrichmentSettings,
  url: string,
  effects: Effects,
  ports: WebhookPorts,
): Promise<WebhookAnswer> {
  const body = { call_inbound: { ...(clientId === undefined ? {} : { from_number: clientId }), scenario } };
  return ask('start/session-webhook', url, body, settings, effects, ports, readSession);
}

async function ask(
  path: string,
  url: string,
  body: JsonObject,
  settings: EnrichmentSettings,
  effects: Effects,
  ports: WebhookPorts,
  read: (data: Json) => WebhookAnswer,
): Promise<WebhookAnswer> {
  const recorded = await effects.perform(
    'webhook',
    path,
    { url, body },
    async ({ signal, idempotencyKey }): Promise<JsonObject> => {
      const answer = await post(url, JSON.stringify(body), settings, idempotencyKey, signal, ports);
      const checked = 'fault' in answer ? answer : checkAnswer(answer.text, read, ports.liveSessions);
      return checked as unknown as JsonObject;
    },
  );
  const answer = recorded.value as unknown as WebhookAnswer;
  if (recorded.replayed && 'sessionId' in answer && answer.sessionId !== undefined)
    ports.liveSessions?.claim(answer.sessionId);
  return answer;
}

async function post(
  url: string,
  body: string,
  settings: EnrichmentSettings,
  idempotencyKey: string,
  signal: AbortSignal,
  ports: WebhookPorts,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const timeoutMs = Math.max(1, Math.floor(((settings.timeout_sec ?? 30) * 1000) / tries));
  let fault = '';
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    if (attempt > 1) await ports.wait(200 * 2 ** (attempt - 2), signal);
    const headers = { ...settings.headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
    const answer = await ports.http.post({ url, headers, body, timeoutMs, maxBytes: largest, signal });
    if (answer.kind === 'fault') return { fault: answer.message };
    if (answer.kind === 'answer' && answer.status >= 200 && answer.status < 300) return { text: answer.text };
    fault = answer.kind === 'answer' ? `it answered ${answer.status}` : answer.message;
    if (answer.kind === 'answer' && answer.status >= 300 && answer.status < 400)
      return { fault: `${fault}, a redirect, which is not followed` };
    if (answer.kind === 'answer' && !worthAnother.has(answer.status)) return { fault };
  }
  return { fault: `${fault} (tried ${tries} times)` };
}

function checkAnswer(text: string, read: (data: Json) => WebhookAnswer, live: LiveSessions | undefined): WebhookAnswer {
  let data: Json;
  try {
    data = JSON.parse(text);
  } catch {
    return { fault: `it did not answer with JSON but with ${JSON.stringify(text.slice(0, 80))}` };
  }
  const unsafe = unsafeIn(data, 0);
  if (unsafe !== undefined) return { fault: `its values ${unsafe}` };
  const answer = read(data);
  if ('fault' in answer || answer.sessionId === undefined) return answer;
  if (live !== undefined && !live.claim(answer.sessionId))
    return { fault: `it gave the session id "${answer.sessionId}", which another live session has` };
  return answer;
}

function readVariables(data: Json): WebhookAnswer {
  const inbound = isObject(data) ? data['call_inbound'] : undefined;
  const variables = isObject(inbound) ? inbound['dynamic_variables'] : undefined;
  if (!isObject(variables)) return { fault: 'its answer has no call_inbound.dynamic_variables' };
  const { session_id: id, ...rest } = variables;
  return withSession(rest, id);
}

function readSession(data: Json): WebhookAnswer {
  const direct = isObject(data) ? data['session_id'] : undefined;
  if (direct !== undefined) return withSession({}, direct);
  const nested = readVariables(data);
  if ('fault' in nested || nested.sessionId === undefined) return { fault: 'its answer has no session_id' };
  return { variables: {}, sessionId: nested.sessionId };
}

function withSession(variables: JsonObject, id: Json | undefined): WebhookAnswer {
  if (id === undefined || id === null || id === '') return { variables };
  if (typeof id !== 'string') return { fault: `its session_id is not a text but ${JSON.stringify(id).slice(0, 60)}` };
  if (!sessionId.test(id))
    return { fault: `its session_id ${JSON.stringify(id.slice(0, 60))} has characters that an id may not have` };
  return { variables, sessionId: id };
}

/** The scenario's variables with the webhook's over them: also in upper and lower case; empty texts override nothing. */
export function mergeVariables(scenario: JsonObject, enriched: JsonObject): JsonObject {
  const told = Object.entries(enriched).filter(([, value]) => value !== '');
  const merged: Record<string, Json> = { ...scenario };
  for (const [key, value] of told) {
    merged[key.toUpperCase()] = value;
    merged[key.toLowerCase()] = value;
  }
  return { ...merged, ...Object.fromEntries(told) };
}
