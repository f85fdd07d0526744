import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../domain/json.ts';
import { canonicalJson } from './checksum.ts';
import { RequestEncoder } from './message-chain.ts';

const chat = (messages: readonly unknown[], extra: object = {}): unknown => ({
  provider: 'p',
  request: { messages, ...extra },
});

describe('a request with a history', () => {
  it('adds one message per turn, however long the conversation is', () => {
    const encoder = new RequestEncoder();
    const messages: object[] = [];
    let written = 0;
    for (let turn = 0; turn < 60; turn++) {
      messages.push({ role: 'user', content: `${turn}` });
      for (const node of encoder.encode(chat([...messages])).unwritten) {
        node.written = true;
        written++;
      }
    }
    expect(written).toBe(60);
  });

  it('has the same hash whoever builds it, and another one for any change in history or rest', () => {
    const hash = (request: unknown): string => new RequestEncoder().encode(request).hash;
    const base = hash(chat([{ role: 'user', content: 'a' }], { temperature: 0, seed: 1 }));
    expect(hash(chat([{ content: 'a', role: 'user' }], { seed: 1, temperature: 0 }))).toBe(base);
    expect(hash(chat([{ role: 'user', content: 'b' }], { temperature: 0, seed: 1 }))).not.toBe(base);
    expect(hash(chat([{ role: 'user', content: 'a' }], { temperature: 1, seed: 1 }))).not.toBe(base);
    expect(
      hash(
        chat(
          [
            { role: 'user', content: 'a' },
            { role: 'user', content: 'a' },
          ],
          { temperature: 0, seed: 1 },
        ),
      ),
    ).not.toBe(base);
  });

  it('offers a message until it was written', () => {
    const encoder = new RequestEncoder();
    const request = chat([{ role: 'user', content: 'a' }]);
    expect(encoder.encode(request).unwritten).toHaveLength(1);
    expect(encoder.encode(request).unwritten).toHaveLength(1);
    for (const node of encoder.encode(request).unwritten) node.written = true;
    expect(encoder.encode(request).unwritten).toEqual([]);
  });
});

describe('canonical JSON', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('leaves out what is undefined and sorts the keys', () => {
    expect(canonicalJson({ b: 1, a: undefined, aa: { d: null, c: [1, 'x'] } })).toBe(
      '{"aa":{"c":[1,"x"],"d":null},"b":1}',
    );
  });
});
