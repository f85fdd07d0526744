import { expect, it } from 'vitest';
import { laneName } from './lane-name.ts';

it.each([
  ['openai#y4gAj13xCax/gpt-5-mini', 'openai:gpt-5-mini'],
  ['bedrock#y4gAj13xCax/eu.anthropic/claude', 'bedrock:eu.anthropic/claude'],
  ['sim:strict', 'sim:strict'],
  ['http:my-agent:0123abcd', 'http:my-agent'],
])('the lane %s is called %s', (key, name) => {
  expect(laneName(key)).toBe(name);
});
