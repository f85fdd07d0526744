/** Enrichment and session webhooks over real sockets: what they give, and each way in which they fail. */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastMessages, play, specificationOf } from '../../test/conversation/desk.ts';
import type { Json } from '../domain/json.ts';
import { createHttpClient, type HttpClient } from '../providers/http-client.ts';
import { toolHttp } from '../run/tool-http.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { faultMatrix } from '../testing/fault-matrix.ts';
import { selfSignedCertificate } from '../testing/self-signed.ts';
import { type EnrichmentSettings, liveSessions, mergeVariables } from './enrichment.ts';
import { replyOf } from './memory-effects.ts';

const seen: { path: string; body: Json; key: string | undefined }[] = [];
let respond: (response: ServerResponse, path: string) => void;
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    seen.push({
      path: request.url ?? '',
      body: JSON.parse(text),
      key: request.headers['idempotency-key'] as string | undefined,
    });
    respond(response, request.url ?? '');
  });
});
const secure = createSecureServer(selfSignedCertificate(), (_, response) => response.end('{}'));
/** Deadlines pass when a test says so, and never because a machine is busy. */
const clock = new VirtualClock();
let url: string;
let secureUrl: string;
let client: HttpClient;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  secureUrl = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
  client = createHttpClient({ clock, connectMs: 120_000 });
});
afterAll(async () => {
  await client.close();
  for (const one of [server, secure]) {
    one.closeAllConnections();
    one.close();
  }
});

const answers = { 'agent:agent': [replyOf('Hello.')], client: [replyOf('Bye.', [['end_call', {}]])] };
const json = (value: Json) => (response: ServerResponse) =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
const variables = (values: Json) => json({ call_inbound: { dynamic_variables: values } });

function ask(
  enrichment: EnrichmentSettings,
  options: { live?: ReturnType<typeof liveSessions>; clientId?: string; prompt?: string } = {},
) {
  seen.length = 0;
  return play({
    answers,
    scenario: { variables: { client_id: options.clientId ?? '+7 900', city: 'Gukovo' } },
    setup: { enrichment },
    ports: { http: toolHttp(client), ...(options.live === undefined ? {} : { liveSessions: options.live }) },
  });
}

describe('the enrichment webhook', () => {
  it('gets {"call_inbound": {"from_number": client_id}} with an idempotency key', async () => {
    respond = variables({});
    await ask({ url });
    expect(seen).toEqual([
      { path: '/', body: { call_inbound: { from_number: '+7 900', scenario: 'order' } }, key: 'start/enrichment' },
    ]);
  });

  it('overrides scenario variables, in upper and lower case too; empty texts override nothing', async () => {
    expect(mergeVariables({ city: 'Gukovo', name: 'x' }, { City: 'Rostov', name: '', List: [1] })).toEqual({
      city: 'Rostov',
      City: 'Rostov',
      CITY: 'Rostov',
      name: 'x',
      List: [1],
      LIST: [1],
      list: [1],
    });
    respond = variables({ city: 'Rostov', GOAL: 'meat' });
    const { result, effects } = await ask({ url });
    expect(result.variables).toMatchObject({ city: 'Rostov', goal: 'meat', GOAL: 'meat' });
    expect(lastMessages(effects, 'client')[0]?.content).toBe('You want meat.');
  });

  it('gives the session id, the same one everywhere: result, tools and templates', async () => {
    respond = variables({ session_id: 'sess-7' });
    const { result, effects } = await ask({ url });
    expect(result.session_id).toBe('sess-7');
    expect(lastMessages(effects, 'agent:agent')[0]?.content).toContain('Session sess-7 on 2026-01-05');
  });

  it('is not called without a client_id', async () => {
    seen.length = 0;
    const { result } = await play({ answers, setup: { enrichment: { url } }, ports: { http: toolHttp(client) } });
    expect(seen).toEqual([]);
    expect(result.warnings).toEqual([]);
  });

  it('that has no URL is not called, and the result says so', async () => {
    const { result } = await ask({});
    expect(seen).toEqual([]);
    expect(result.status).toBe('completed');
    expect(result.warnings).toEqual([expect.stringContaining('no enrichment webhook is configured')]);
  });

  it('is tried again after a 503, and its values are data, never templates', async () => {
    let times = 0;
    respond = (response) => {
      times += 1;
      if (times < 3) response.writeHead(503).end();
      else variables({ goal: '{{ session_id }}{% if x %}' })(response);
    };
    const { effects } = await ask({ url });
    expect(times).toBe(3);
    expect(lastMessages(effects, 'client')[0]?.content).toBe('You want {{ session_id }}{% if x %}.');
  });
});

describe('the session webhook', () => {
  it('is asked when enrichment gave no id', async () => {
    respond = (response, path) =>
      (path === '/session' ? json({ session_id: 'from-session' }) : variables({}))(response);
    expect((await ask({ url, session_url: `${url}/session` })).result.session_id).toBe('from-session');
    expect(seen.map(({ path }) => path)).toEqual(['/', '/session']);
  });

  it('is not asked when enrichment gave one; without any the id is generated', async () => {
    respond = variables({ session_id: 'first' });
    expect((await ask({ url, session_url: `${url}/session` })).result.session_id).toBe('first');
    expect(seen).toHaveLength(1);
    respond = variables({});
    expect((await ask({ url })).result.session_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

/** Each fault, and what the result says about it. */
const faults: readonly (readonly [name: string, fault: () => (response: ServerResponse) => void, says: RegExp])[] = [
  ['W1 a hang', () => () => void clock.step(), /did not answer in time/],
  [
    'W2 a redirect to a metadata address',
    () => (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    /redirect, which is not followed/,
  ],
  [
    'W3 a page instead of JSON',
    () => (response) => void response.end('<html>Sign in</html>'),
    /did not answer with JSON/,
  ],
  [
    'W4 the wrong shape',
    () => json({ call_inbound: { dynamic_variables: ['a'] } }),
    /no call_inbound\.dynamic_variables/,
  ],
  ['W5 ten megabytes', () => (response) => void response.end(JSON.stringify({ x: 'x'.repeat(10_000_000) })), /larger/],
  ['W6 a session id that is a path', () => variables({ session_id: '../../x' }), /characters that an id may not have/],
  ['W7 a session id that is no text', () => variables({ session_id: { $ne: null } }), /not a text/],
  [
    'W8 a session id with a header in it',
    () => variables({ session_id: 'a\r\nx-admin: 1' }),
    /characters that an id may not have/,
  ],
  [
    'W8 a session id with a template in it',
    () => variables({ session_id: '{{ env }}' }),
    /characters that an id may not have/,
  ],
  [
    'W9 a slow drip',
    () => (response) => {
      let drops = 0;
      const drip = (): void => {
        if (response.destroyed) return;
        drops += 1;
        if (drops === 5) clock.step();
        response.write(' ', () => setImmediate(drip));
      };
      drip();
    },
    /did not answer in time/,
  ],
  [
    'prototype keys',
    () => (response) => void response.end('{"call_inbound":{"dynamic_variables":{"__proto__":{"admin":1}}}}'),
    /__proto__/,
  ],
  ['a 500', () => (response) => void response.writeHead(500).end(), /answered 500/],
];

describe('a webhook that fails', () => {
  it.each(faults)('%s: by default the conversation fails, and no model is asked', async (_, fault, says) => {
    respond = fault();
    const { result, effects } = await ask({ url });
    expect(result).toMatchObject({ status: 'failed', error_type: 'WebhookError', total_turns: 0 });
    expect(result.error).toMatch(says);
    expect(effects.log.filter(({ kind }) => kind === 'model')).toEqual([]);
  });

  it.each(faults)(
    '%s: with "continue" it goes on with the scenario\'s values and a warning',
    async (_, fault, says) => {
      respond = fault();
      const { result } = await ask({ url, policy: 'continue' });
      expect(result.status).toBe('completed');
      expect(result.variables).toEqual({ client_id: '+7 900', city: 'Gukovo' });
      expect(result.warnings.join()).toMatch(says);
      expect(result.session_id).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('with "skip" the scenario is left out, and the result says so', async () => {
    respond = json([]);
    const { result } = await ask({ url, policy: 'skip' });
    expect(result).toMatchObject({ status: 'failed', error_code: 'webhook_skipped', total_turns: 0 });
  });

  it('W6 a session id of another live session is refused, and free again when that one is over', async () => {
    respond = variables({ session_id: 'twin' });
    const live = liveSessions();
    expect(live.claim('twin')).toBe(true);
    const { result } = await ask({ url }, { live });
    expect(result.error).toContain('another live session');
    live.release('twin');
    expect((await ask({ url }, { live })).result.session_id).toBe('twin');
    expect((await ask({ url }, { live })).result.session_id).toBe('twin');
  });

  it('W10 a self-signed certificate is never accepted', async () => {
    const { result } = await ask({ url: secureUrl });
    expect(result.error).toContain('could not be verified');
  });

  it('a metadata address is never asked', async () => {
    const { result } = await ask({ url: 'http://169.254.169.254/latest' });
    expect(result.error).toContain('not allowed');
  });

  it('W8 values that look like headers or templates are data', async () => {
    const odd = { goal: '{{ session_id }}\r\nx-admin: 1' };
    respond = variables(odd);
    const { result, effects } = await ask({ url });
    expect(result).toMatchObject({ status: 'completed', variables: odd });
    expect(lastMessages(effects, 'client')[0]?.content).toBe(`You want ${odd.goal}.`);
  });

  it('meets every webhook row of the fault matrix', () => {
    const here = readFileSync(import.meta.filename, 'utf8');
    const missing = faultMatrix.webhooks.filter(({ id }) => !new RegExp(`'${id} `).test(here));
    expect(missing).toEqual([]);
    expect(faultMatrix.webhooks).toHaveLength(10);
  });

  it('may leave a variable missing, which is found before any money is spent', async () => {
    respond = variables({});
    const snapshot = await specificationOf(
      'name: n\nversion: "1"\nagents:\n  agent: {name: A, prompt: "{{ from_webhook }}"}\n  client: {name: C, prompt: c}\n',
    );
    const { result } = await play({
      answers,
      scenario: { variables: { client_id: 'x' } },
      setup: { enrichment: { url }, snapshot },
      ports: { http: toolHttp(client) },
    });
    expect(result).toMatchObject({ status: 'failed', error_type: 'TemplateError', total_turns: 0 });
  });
});
