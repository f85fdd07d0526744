/** The smallest provider that speaks to a real server: OpenAI's chat format over a kept connection. */
import { Agent, request as send } from 'node:http';
import { laneKey } from '../../src/domain/ids.ts';
import type { ModelRequest } from '../../src/domain/message.ts';
import type { CallOptions, Provider } from '../../src/domain/provider.ts';
import type { Outcome, Reply } from '../../src/domain/reply.ts';
import { echoProvider, reply } from './run-harness.ts';

const agent = new Agent({ keepAlive: true });

const messagesOf = (request: ModelRequest): unknown =>
  request.kind === 'chat' ? (request.messages ?? [{ role: 'user', content: request.prompt }]) : [];

interface Body {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

const readReply = (raw: string, status: number): Reply => {
  const body = JSON.parse(raw) as Body;
  const text = body.choices[0]?.message.content ?? '';
  const usage = { inputTokens: body.usage?.prompt_tokens ?? 0, outputTokens: body.usage?.completion_tokens ?? 0 };
  return reply(text, { raw, status, usage });
};

const failed = (message: string): Outcome => ({
  kind: 'failure',
  code: 'transient',
  message,
  retryable: true,
  billed: 'maybe',
});

export function httpProvider(name: string, url: string): Provider {
  const call = (request: ModelRequest, { signal, idempotencyKey }: CallOptions): Promise<Outcome> =>
    new Promise((resolve) => {
      const body = JSON.stringify({ model: name, messages: messagesOf(request) });
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        authorization: `Bearer ${name}`,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      };
      const wire = send(`${url}/v1/chat/completions`, { method: 'POST', headers, agent, signal }, (response) => {
        let raw = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          raw += piece;
        });
        response.on('end', () => resolve(response.statusCode === 200 ? readReply(raw, 200) : failed(raw)));
      });
      wire.on('error', (cause) => resolve(failed(String(cause))));
      wire.end(body);
    });
  return { ...echoProvider(name), laneKey: laneKey(name), call };
}
