import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../platform/clock.ts';
import type { TransportHarm } from './fault-act.ts';

/** What harm needs: the answer that would have gone out, and time. */
export interface HarmedAnswer {
  readonly response: ServerResponse;
  readonly body: string;
  readonly clock: Clock;
  readonly dripMs: number;
}

const jsonHead = { 'content-type': 'application/json' };
/** More than any client should take, less than would hurt a test machine. */
const bombBytes = 48 * 1024 * 1024;
const memberBytes = 1024 * 1024;
const endlessBytes = 128 * 1024 * 1024;

const rawHead = (header: string): string => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${header}\r\n\r\n`;

/** Writes bytes past the HTTP layer and hangs up. */
function writeRaw(response: ServerResponse, text: string): void {
  response.socket?.end(text);
}

function resetInBody({ response, body }: HarmedAnswer): void {
  response.writeHead(200, { ...jsonHead, 'content-length': Buffer.byteLength(body) });
  response.write(body.slice(0, Math.ceil(body.length / 2)), () => {
    setImmediate(() => response.socket?.resetAndDestroy());
  });
}

/** One byte at a time, then blanks for ever: always alive, never done. */
function drip({ response, body, clock, dripMs }: HarmedAnswer): void {
  let at = 0;
  let cancel = (): void => {};
  response.writeHead(200, jsonHead);
  response.on('close', () => cancel());
  const next = (): void => {
    response.write(at < body.length - 1 ? body.charAt(at) : ' ');
    at += 1;
    cancel = clock.at(clock.now() + dripMs, next);
  };
  next();
}

/** Blocks without end, as fast as the client takes them. */
function endless({ response }: HarmedAnswer): void {
  const block = 'x'.repeat(256 * 1024);
  let sent = 0;
  const fill = (): void => {
    while (sent < endlessBytes && !response.destroyed) {
      sent += block.length;
      if (!response.write(block)) return;
    }
    response.end('"}');
  };
  response.writeHead(200, jsonHead);
  response.write('{"text":"');
  response.on('drain', fill);
  fill();
}

/** Members of a gzip file may stand one after the other, so that the same small one unpacks again and again. */
function gzipBomb({ response }: HarmedAnswer): void {
  const member = gzipSync(Buffer.alloc(memberBytes, ' '));
  const bomb = Buffer.concat(Array.from({ length: bombBytes / memberBytes }, () => member));
  response.writeHead(200, { ...jsonHead, 'content-encoding': 'gzip', 'content-length': bomb.length });
  response.end(bomb);
}

type Harm = (answer: HarmedAnswer) => void;

const raw =
  (head: (bytes: number) => string, body: (text: string, bytes: number) => string = (text) => text): Harm =>
  (answer) => {
    const bytes = Buffer.byteLength(answer.body);
    writeRaw(answer.response, `${rawHead(head(bytes))}${body(answer.body, bytes)}`);
  };

const chunked = (): string => 'transfer-encoding: chunked';

/** How each harm is done; `stale-connection` is done by the server itself, on the connection's next request. */
export const harms: Readonly<Record<Exclude<TransportHarm, 'stale-connection'>, Harm>> = {
  'reset-before-head': ({ response }) => response.socket?.resetAndDestroy(),
  'reset-in-body': resetInBody,
  hang: () => {},
  drip,
  'length-too-long': raw((bytes) => `content-length: ${bytes + 10}`),
  'length-too-short': raw((bytes) => `content-length: ${Math.max(1, bytes - 10)}`),
  'bad-chunk': raw(chunked, (text) => `zz\r\n${text}\r\n0\r\n\r\n`),
  'no-final-chunk': raw(chunked, (text, bytes) => `${bytes.toString(16)}\r\n${text}\r\n`),
  endless,
  'gzip-bomb': gzipBomb,
};
