/** An OpenAI-like server that answers only when it is told to, for runs that must still be under way. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeldServer {
  readonly url: string;
  /** Resolves when somebody waits for an answer. */
  readonly asked: Promise<void>;
  /** Answers everybody, now and from now on. */
  release(): void;
  close(): Promise<void>;
}

const answer = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'apple' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

export async function heldServer(): Promise<HeldServer> {
  const waiting: ServerResponse[] = [];
  let released = false;
  let tell = (): void => {};
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const end = (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  const server = createServer((request, response) => {
    request.resume();
    tell();
    if (released) end(response);
    else waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    release: () => {
      released = true;
      for (const response of waiting.splice(0)) end(response);
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
