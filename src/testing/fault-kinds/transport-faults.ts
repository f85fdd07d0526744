import type { FaultAct, StreamHarm, TransportHarm } from '../fault-act.ts';
import type { FaultKind } from '../fault-kinds.ts';

const harm = (what: TransportHarm) => (): FaultAct => ({ do: 'transport', harm: what });
const stream = (what: StreamHarm) => (): FaultAct => ({ do: 'stream', harm: what });
const unreachable = (how: string) => (): FaultAct => ({ do: 'unreachable', how });
const spoil = (change: (json: string) => string | Buffer) => (): FaultAct => ({ do: 'reply', spoil: change });

/** Puts a member in front of everything else in the object. */
const member =
  (text: string) =>
  (json: string): string =>
    `{${text},${json.slice(1)}`;

/** The text that replies under byte faults carry, so that the harm has a place. */
export const harmedText = 'harmed here';
const inText =
  (put: string) =>
  (json: string): string =>
    json.replace(harmedText, `harmed${put}here`);

/** A byte that no UTF-8 text can hold, in the middle of the answer's words. */
function breakUtf8(json: string): Buffer {
  const bytes = Buffer.from(inText('~')(json));
  const at = bytes.indexOf('harmed~here');
  if (at >= 0) bytes[at + 6] = 0xff;
  return bytes;
}

const depth = 20_000;

export const transportFaults: readonly FaultKind[] = [
  {
    kind: 29,
    group: 'transport',
    title: 'the name does not exist',
    variants: { nxdomain: unreachable('use a name below .invalid as base address') },
  },
  {
    kind: 30,
    group: 'transport',
    title: 'the connection is refused',
    variants: { refused: unreachable('use the address of a server that was closed') },
  },
  {
    kind: 31,
    group: 'transport',
    title: 'the certificate does not verify',
    variants: { 'self-signed': unreachable('start the server with `tls: true`') },
  },
  { kind: 32, group: 'transport', title: 'reset before the head', variants: { reset: harm('reset-before-head') } },
  { kind: 33, group: 'transport', title: 'reset in the body', variants: { reset: harm('reset-in-body') } },
  { kind: 34, group: 'transport', title: 'hang before the head', variants: { hang: harm('hang') } },
  { kind: 35, group: 'transport', title: 'a body byte by byte', variants: { drip: harm('drip') } },
  { kind: 36, group: 'transport', title: 'hang for ever', variants: { hang: harm('hang') } },
  {
    kind: 37,
    group: 'transport',
    title: 'a content length that is not true',
    variants: { longer: harm('length-too-long'), shorter: harm('length-too-short') },
  },
  {
    kind: 38,
    group: 'transport',
    title: 'JSON cut off',
    variants: { half: spoil((json) => json.slice(0, Math.ceil(json.length / 2))) },
  },
  { kind: 39, group: 'transport', title: 'a body without end', variants: { endless: harm('endless') } },
  {
    kind: 40,
    group: 'transport',
    title: 'a small body that unpacks to a huge one',
    variants: { gzip: harm('gzip-bomb') },
  },
  { kind: 41, group: 'transport', title: 'bytes that are no UTF-8', variants: { byte: spoil(breakUtf8) } },
  {
    kind: 42,
    group: 'transport',
    title: 'lone surrogates, NUL, byte order mark',
    variants: {
      surrogate: spoil(inText('\\ud800')),
      nul: spoil(inText('\\u0000')),
      bom: spoil((json) => `\ufeff${json}`),
    },
  },
  {
    kind: 43,
    group: 'transport',
    title: 'JSON nested 20,000 deep',
    variants: { deep: spoil(member(`"deep":${'['.repeat(depth)}${']'.repeat(depth)}`)) },
  },
  {
    kind: 44,
    group: 'transport',
    title: 'dangerous and doubled keys',
    variants: {
      proto: spoil(member('"__proto__":{"polluted":true}')),
      duplicate: spoil(member('"model":"first","id":"first"')),
    },
  },
  {
    kind: 45,
    group: 'transport',
    title: 'broken chunks, stale connections',
    variants: {
      'bad-chunk': harm('bad-chunk'),
      'no-final-chunk': harm('no-final-chunk'),
      stale: harm('stale-connection'),
    },
  },
  { kind: 46, group: 'stream', title: 'a stream that stalls', variants: { stall: stream('stall') } },
  { kind: 47, group: 'stream', title: 'an error event after 200', variants: { error: stream('error-event') } },
  { kind: 48, group: 'stream', title: 'a stream without its end mark', variants: { 'no-end': stream('no-end') } },
  { kind: 49, group: 'stream', title: 'characters split across chunks', variants: { split: stream('split-bytes') } },
  { kind: 50, group: 'stream', title: 'keep-alives without content', variants: { idle: stream('keep-alives') } },
  { kind: 51, group: 'stream', title: 'a stream without usage', variants: { 'no-usage': stream('no-usage') } },
];
