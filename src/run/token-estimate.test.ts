import { expect, it } from 'vitest';
import { echoProvider } from '../../test/support/run-harness.ts';
import { mostInput, mostOutput } from './token-estimate.ts';

it('takes the most an answer may have from the request, from its settings, or from the provider', () => {
  const provider = echoProvider('a');
  const most = (extra: object): number => mostOutput({ kind: 'chat', prompt: 'hi', ...extra }, provider);
  expect(most({})).toBe(100);
  expect(most({ params: { temperature: 0 } })).toBe(100);
  expect(most({ params: { max_output_tokens: 40 } })).toBe(40);
  expect(most({ maxTokens: 7, params: { max_tokens: 40 } })).toBe(7);
  expect(mostOutput({ kind: 'embedding', input: 'hi' }, provider)).toBe(0);
});

it('takes every byte of a request for a token, whatever its language', () => {
  expect(mostInput({ kind: 'chat', prompt: 'héllo' })).toBe(16 + 6);
  expect(mostInput({ kind: 'chat', messages: [{ role: 'user', content: '日本' }] })).toBeGreaterThan(6 + 16);
  expect(mostInput({ kind: 'embedding', input: 'abc' })).toBe(3);
});
