import { describe, expect, test } from 'vitest';
import { json } from './fixtures/answering-server.ts';
import { canary, rig } from './fixtures/provider-rig.ts';

const hosted = (id: string) => (url: string) => ({ id, config: { apiBaseUrl: url, apiKey: canary } });

describe('models that grade', () => {
  test('Hugging Face classifies', async () => {
    await using it = await rig(
      hosted('huggingface:text-classification:facebook/roberta'),
      json([
        [
          { label: 'hate', score: 0.2 },
          { label: 'nothate', score: 0.8 },
        ],
      ]),
    );
    expect(await it.reply({ kind: 'classification', input: 'hi' })).toMatchObject({
      scores: { hate: 0.2, nothate: 0.8 },
    });
    expect(it.server.seen[0]).toMatchObject({ path: '/hf-inference/models/facebook/roberta', json: { inputs: 'hi' } });
  });

  test('Hugging Face compares sentences', async () => {
    await using it = await rig(hosted('hf:sentence-similarity:a/b'), json([0.75]));
    expect(await it.reply({ kind: 'similarity', expected: 'a', input: 'b' })).toMatchObject({
      output: 0.75,
      scores: { similarity: 0.75 },
    });
    expect(it.server.seen[0]?.json.inputs).toEqual({ source_sentence: 'a', sentences: ['b'] });
    expect(await it.failure({ kind: 'chat', prompt: 'x' })).toMatchObject({ code: 'invalid_request' });
  });

  test('Hugging Face embeds', async () => {
    await using it = await rig(hosted('huggingface:feature-extraction:a/b'), json([0.1, 0.2]));
    expect(await it.reply({ kind: 'embedding', input: 'x' })).toMatchObject({ embedding: [0.1, 0.2] });
  });

  test('Replicate moderates an exchange', async () => {
    await using it = await rig(
      hosted('replicate:moderation:meta/llama-guard:abc'),
      json({ status: 'succeeded', output: ['unsafe\n', 'S1,S10'], error: null }),
    );
    expect(await it.reply({ kind: 'moderation', prompt: 'q', input: 'a' })).toMatchObject({
      flagged: true,
      scores: { S1: 1, S10: 1 },
    });
    expect(it.server.seen[0]).toMatchObject({
      path: '/v1/predictions',
      json: { version: 'abc', input: { prompt: 'Human: q\n\nAssistant: a' } },
    });
    it.server.answer = json({ status: 'succeeded', output: ['safe'] });
    expect(await it.reply({ kind: 'moderation', input: 'a' })).toMatchObject({ flagged: false, scores: {} });
    it.server.answer = json({ status: 'failed', error: 'out of memory' });
    expect((await it.failure({ kind: 'moderation', input: 'a' })).message).toContain('out of memory');
  });
});
