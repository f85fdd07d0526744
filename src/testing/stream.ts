import { assertNever } from '../domain/errors.ts';
import type { StreamHarm } from './fault-act.ts';
import type { Visit } from './request-desk.ts';
import type { SeenRequest } from './seen-request.ts';
import { openaiUsage } from './wires/openai-chat.ts';
import type { CountedReply } from './wires/wire.ts';

interface Events {
  readonly start: readonly string[];
  readonly delta: (text: string) => string;
  readonly usage: string | undefined;
  readonly end: readonly string[];
  readonly error: string;
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, value: object): string => `event: ${type}\n${data({ type, ...value })}`;

function openaiEvents(reply: CountedReply, request: SeenRequest): Events {
  const chunk = (delta: object, finish: string | null): string =>
    data({
      id: `chatcmpl-${request.number}`,
      object: 'chat.completion.chunk',
      model: reply.model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  return {
    start: [chunk({ role: 'assistant', content: '' }, null)],
    delta: (text) => chunk({ content: text }, null),
    usage: data({
      id: `chatcmpl-${request.number}`,
      model: reply.model,
      choices: [],
      ...openaiUsage(reply, undefined),
    }),
    end: [chunk({}, reply.finish), 'data: [DONE]\n\n'],
    error: data({ error: { message: 'Overloaded', type: 'server_error', code: 'server_is_overloaded' } }),
  };
}

function anthropicEvents(reply: CountedReply, request: SeenRequest): Events {
  const usage = { input_tokens: reply.inputTokens, output_tokens: 1 };
  const message = { id: `msg_${request.number}`, type: 'message', role: 'assistant', model: reply.model, content: [] };
  return {
    start: [
      named('message_start', { message: { ...message, usage } }),
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ],
    delta: (text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    usage: named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: reply.outputTokens } }),
    end: [named('content_block_stop', { index: 0 }), named('message_stop', {})],
    error: named('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
  };
}

const words = (text: string): string[] => text.match(/\S+\s*/g) ?? [];

/** Answers with server-sent events (OpenAI chat and Anthropic messages), whole or harmed. */
export function writeStream(
  visit: Visit,
  reply: CountedReply,
  harm: StreamHarm | undefined,
  headers: Record<string, string>,
): void {
  const { response, request, entry } = visit;
  const anthropic = request.wire === 'anthropic-messages';
  const events = anthropic ? anthropicEvents(reply, request) : openaiEvents(reply, request);
  entry.status = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  const deltas = words(reply.text).map(events.delta);
  const usage = harm === 'no-usage' || events.usage === undefined ? [] : [events.usage];
  const whole = [...events.start, ...deltas, ...usage, ...events.end].join('');
  const half = [...events.start, ...deltas.slice(0, 1)].join('');
  switch (harm) {
    case undefined:
    case 'no-usage':
      response.end(whole);
      return;
    case 'stall':
      response.write(half);
      return;
    case 'keep-alives':
      response.write(': keep-alive\n\n'.repeat(3));
      return;
    case 'error-event':
      response.end(half + events.error);
      return;
    case 'no-end':
      response.end([...events.start, ...deltas].join(''));
      return;
    case 'split-bytes': {
      const bytes = Buffer.from(`: comment\r\n${whole}`);
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
      return;
    }
    default:
      assertNever(harm);
  }
}
