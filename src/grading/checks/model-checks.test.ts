import { describe, expect, it } from 'vitest';
import type { ModelCall } from '../../domain/effects.ts';
import type { Assertion } from '../../domain/verdict.ts';
import { memoryFiles } from '../../prompts/files.ts';
import { type Answering, benchEffects, checkOn, failure, gradeOn, reply, wordsOf } from '../fixtures/grading-bench.ts';

const graded = (pass: boolean, score: number): string => JSON.stringify({ reason: 'because', pass, score });

describe('llm-rubric', () => {
  const rubric: Assertion = { type: 'llm-rubric', value: 'Is polite to {{name}}' };

  it('asks the grader with the output and the rubric filled in', async () => {
    const effects = benchEffects(() => graded(true, 0.9));
    const found = await checkOn('Dear Ada', rubric, { effects, subject: { vars: { name: 'Ada' } } });
    expect(found).toMatchObject({
      pass: true,
      score: 0.9,
      reason: 'because',
      usage: { inputTokens: 10, outputTokens: 2 },
    });
    expect(effects.asked.map(({ path, call }) => [path, call.provider, call.role])).toEqual([
      ['grade/0/0', 'grader', 'grader'],
    ]);
    const words = wordsOf(effects.asked[0]?.call as ModelCall);
    expect(words).toContain('Dear Ada');
    expect(words).toContain('Is polite to Ada');
  });

  it.each([
    ['fenced JSON', '```json\n{"pass": true, "score": 1, "reason": "ok"}\n```', true, 1],
    ['prose around JSON', 'Sure! {"pass": false, "score": 0.2, "reason": "no"} Hope it helps', false, 0.2],
    ['words for booleans', '{"pass": "yes", "score": "0.8", "reason": "ok"}', true, 0.8],
    ['no score', '{"pass": false, "reason": "no"}', false, 0],
    ['a trailing comma and single quotes', "{'pass': true, 'score': 1, 'reason': 'ok',}", true, 1],
    ['a missing brace', '{"pass": true, "score": 1, "reason": "ok"', true, 1],
  ])('reads %s', async (_about, answer, pass, score) => {
    expect(await checkOn('x', rubric, { answer: () => answer })).toMatchObject({ pass, score });
  });

  it('a threshold must be reached as well', async () => {
    const answer = (): string => graded(true, 0.5);
    expect((await checkOn('x', { ...rubric, threshold: 0.6 }, { answer })).pass).toBe(false);
    expect((await checkOn('x', { ...rubric, threshold: 0.5 }, { answer })).pass).toBe(true);
  });

  it('not- turns verdict and score around', async () => {
    const answer = (): string => graded(true, 0.8);
    const found = await checkOn('x', { ...rubric, type: 'not-llm-rubric' }, { answer });
    expect(found.pass).toBe(false);
    expect(found.score).toBeCloseTo(0.2);
  });

  it('an unreadable answer is asked for once more, on a path of its own', async () => {
    const effects = benchEffects((_, path) => (path === 'grade/0/0' ? 'I would say yes' : graded(true, 1)));
    expect((await checkOn('x', rubric, { effects })).pass).toBe(true);
    expect(effects.asked.map(({ path }) => path)).toEqual(['grade/0/0', 'grade/0/1']);
    expect(wordsOf(effects.asked[1]?.call as ModelCall)).toContain('cannot be used');
  });

  it.each(['llm-rubric', 'not-llm-rubric'])('an answer unreadable twice is no score (%s)', async (type) => {
    const effects = benchEffects(() => 'hm');
    const found = await checkOn('x', { ...rubric, type }, { effects });
    expect(found).toMatchObject({ pass: false, score: 0, usage: { inputTokens: 20 } });
    expect(found.error).toMatch(/cannot be read/);
    expect(effects.asked).toHaveLength(2);
  });

  it.each(['llm-rubric', 'not-llm-rubric'])('a failing grader is no score (%s)', async (type) => {
    const found = await checkOn('x', { ...rubric, type }, { answer: () => failure('503 from the grader') });
    expect(found.error).toMatch(/503 from the grader/);
    expect(found.pass).toBe(false);
  });

  it('a rubric prompt of the config replaces ours; the output in it is data, not a template', async () => {
    const effects = benchEffects(() => graded(true, 1));
    const rubricPrompt = [{ role: 'user', content: 'Judge {{ output }} by {{ rubric }}' }];
    await checkOn('{{ env.SECRET }}', { type: 'llm-rubric', value: 'R', rubricPrompt }, { effects });
    const words = wordsOf(effects.asked[0]?.call as ModelCall);
    expect(JSON.parse(words)).toEqual([{ role: 'user', content: 'Judge {{ env.SECRET }} by R' }]);
  });

  it('a rubric prompt may stand in a file', async () => {
    const effects = benchEffects(() => graded(true, 1));
    const ports = { files: memoryFiles({ '/suite/judge.txt': 'Q: {{rubric}} A: {{output}}' }) };
    const options = { grading: { rubricPrompt: 'file://judge.txt' } };
    await checkOn('yes', { type: 'llm-rubric', value: 'R' }, { effects, ports, options });
    expect(wordsOf(effects.asked[0]?.call as ModelCall)).toBe('Q: R A: yes');
    const missing = await checkOn(
      'yes',
      { type: 'llm-rubric', value: 'R', rubricPrompt: 'file://no.txt' },
      { effects },
    );
    expect(missing.error).toMatch(/no file/);
  });
});

describe('who grades', () => {
  const asked = async (assertion: Assertion, provider?: unknown, defaults = true): Promise<string | undefined> => {
    const effects = benchEffects(() => graded(true, 1));
    const options = {
      ...(provider === undefined ? {} : { grading: { provider: provider as string } }),
      ...(defaults ? {} : { defaultGraders: {} }),
    };
    const found = await checkOn('x', assertion, { effects, options });
    return found.error ?? effects.asked[0]?.call.provider;
  };
  const rubric: Assertion = { type: 'llm-rubric', value: 'R' };

  it("the assertion's provider comes before the test's, and that before the default", async () => {
    expect(await asked({ ...rubric, provider: 'openai:a' }, 'openai:b')).toBe('openai:a');
    expect(await asked(rubric, 'openai:b')).toBe('openai:b');
    expect(await asked(rubric)).toBe('grader');
  });

  it('a map names a provider for each kind, and leaves the others to the default', async () => {
    expect(await asked(rubric, { text: 'openai:t', embedding: 'openai:e' })).toBe('openai:t');
    expect(await asked(rubric, { embedding: 'openai:e' })).toBe('grader');
  });

  it('a definition with a config is asked for as a whole', async () => {
    const definition = { id: 'openai:gpt-4.1', config: { temperature: 0 } };
    expect(await asked(rubric, { id: 'openai:gpt-4.1' })).toBe('openai:gpt-4.1');
    expect(JSON.parse((await asked(rubric, definition)) ?? '')).toEqual(definition);
  });

  it('no grader, or something that is none, is an error that says what to do', async () => {
    expect(await asked(rubric, undefined, false)).toMatch(/set "provider"/);
    expect(await asked(rubric, ['openai:a'])).toMatch(/not a grader/);
    expect(await asked(rubric, { model: 'x' })).toMatch(/not a grader/);
  });
});

describe('other questions to language models', () => {
  it('g-eval asks for steps, then rates from 0 to 10', async () => {
    const answer: Answering = (call) =>
      wordsOf(call).includes('evaluation steps') ? '{"steps": ["look", "think"]}' : '{"score": 8, "reason": "good"}';
    const effects = benchEffects(answer);
    expect(await checkOn('x', { type: 'g-eval', value: 'Clear' }, { effects })).toMatchObject({
      pass: true,
      score: 0.8,
    });
    expect(effects.asked).toHaveLength(2);
    const negated = await checkOn('x', { type: 'not-g-eval', value: 'Clear' }, { answer });
    expect(negated.pass).toBe(false);
    expect((await checkOn('x', { type: 'g-eval', value: ['a', 'b'], threshold: 0.9 }, { answer })).pass).toBe(false);
    expect((await checkOn('x', { type: 'g-eval', value: 3 }, { answer })).error).toMatch(/needs a criterion/);
    expect((await checkOn('x', { type: 'g-eval', value: 'a' }, { answer, subject: { prompt: '' } })).error).toMatch(
      /prompt/,
    );
  });

  it.each([
    ['Thinking...\nY', 'model-graded-closedqa', true],
    ['Thinking...\nN', 'model-graded-closedqa', false],
    ['Thinking...\nN', 'not-model-graded-closedqa', true],
  ])('closed questions end in a letter: %j by %s is %s', async (answer, type, pass) => {
    expect((await checkOn('x', { type, value: 'Is short' }, { answer: () => answer })).pass).toBe(pass);
  });

  it('a closed question without a letter at its end is no verdict', async () => {
    const found = await checkOn(
      'x',
      { type: 'not-model-graded-closedqa', value: 'Is short' },
      { answer: () => 'maybe' },
    );
    expect(found.error).toMatch(/Y or N/);
  });

  it.each([
    ['A', 'factuality', true],
    ['D', 'factuality', false],
    ['D', 'not-factuality', true],
    ['E', 'model-graded-factuality', true],
  ])('facts of category %s by %s: %s', async (category, type, pass) => {
    const answer = (): string => JSON.stringify({ category, reason: 'r' });
    expect((await checkOn('x', { type, value: 'Paris' }, { answer })).pass).toBe(pass);
  });

  it('categories can be scored by the config, and be read from prose', async () => {
    const options = { grading: { factuality: { subset: 0.25 } } };
    const found = await checkOn(
      'x',
      { type: 'factuality', value: 'Paris' },
      { answer: () => '(A) it says less', options },
    );
    expect(found).toMatchObject({ pass: true, score: 0.25 });
    expect((await checkOn('x', { type: 'factuality', value: 'Paris' }, { answer: () => 'dunno' })).error).toMatch(
      /category/,
    );
  });

  it('conversation-relevance counts the replies that have to do with what was said', async () => {
    const effects = benchEffects((call) =>
      wordsOf(call).includes('nice weather') ? '{"verdict":"no","reason":"off topic"}' : '{"verdict":"yes"}',
    );
    const history = [
      { input: 'Hi', output: 'Hello' },
      { input: 'My throat hurts', output: 'What nice weather' },
    ];
    const subject = { vars: { _conversation: history } };
    const assertion = { type: 'conversation-relevance', config: { windowSize: 1 } };
    expect(await checkOn('x', assertion, { effects, subject })).toMatchObject({ pass: true, score: 0.5 });
    expect(effects.asked).toHaveLength(2);
    expect((await checkOn('x', { ...assertion, threshold: 0.6 }, { effects, subject })).pass).toBe(false);
    expect((await checkOn('x', { ...assertion, type: 'not-conversation-relevance' }, { effects, subject })).pass).toBe(
      false,
    );
    expect((await checkOn('x', assertion, { answer: () => '{"verdict":"perhaps"}' })).error).toMatch(/verdict/);
  });

  it('context-recall is the share of supported sentences', async () => {
    const answer = (): string => 'Here:\n1. A. So [Attributed]\n2. B. So [Not Attributed]';
    const subject = { vars: { context: 'A is so.' } };
    const assertion = { type: 'context-recall', value: 'A. B.', threshold: 0.5 };
    expect(await checkOn('x', assertion, { answer, subject })).toMatchObject({ pass: true, score: 0.5 });
    expect((await checkOn('x', { ...assertion, type: 'not-context-recall' }, { answer, subject })).pass).toBe(false);
    expect((await checkOn('x', assertion, { answer: () => 'hm', subject })).error).toMatch(/Attributed/);
    expect((await checkOn('x', { type: 'context-recall' }, { answer, subject })).error).toMatch(/expected answer/);
  });

  it('context-relevance is the share of the context that is needed', async () => {
    const subject = { vars: { query: 'Q', context: 'One. Two. Three. Four.' } };
    const assertion = { type: 'context-relevance', threshold: 0.3 };
    expect(await checkOn('x', assertion, { answer: () => 'One. Two.', subject })).toMatchObject({
      pass: true,
      score: 0.5,
    });
    const none = await checkOn('x', assertion, { answer: () => 'Insufficient Information', subject });
    expect(none).toMatchObject({ pass: false, score: 0 });
    const chunks = { vars: { query: 'Q', context: ['One.', 'Two.'] } };
    expect((await checkOn('x', assertion, { answer: () => 'One.', subject: chunks })).score).toBe(0.5);
    expect((await checkOn('x', assertion, { subject: { vars: { query: 'Q' } } })).error).toMatch(/needs the context/);
    expect((await checkOn('x', assertion, { subject: { vars: { context: 'C' } } })).error).toMatch(/query/);
  });

  it('context-faithfulness is the share of statements that the context supports', async () => {
    const answer: Answering = (call) =>
      wordsOf(call).includes('create one or more statements')
        ? 'First.\nSecond.'
        : 'Final verdict for each statement in order: Yes. No.';
    const subject = { vars: { query: 'Q', context: 'C' } };
    const assertion = { type: 'context-faithfulness', threshold: 0.6 };
    expect(await checkOn('x', assertion, { answer, subject })).toMatchObject({ pass: false, score: 0.5 });
    expect((await checkOn('x', { ...assertion, type: 'not-context-faithfulness' }, { answer, subject })).pass).toBe(
      true,
    );
    const mute: Answering = (call) => (wordsOf(call).includes('create one or more statements') ? 'First.' : 'hm');
    expect((await checkOn('x', assertion, { answer: mute, subject })).error).toMatch(/final verdict/);
  });

  it('answer-relevance guesses three questions and compares them with the one asked', async () => {
    const answer: Answering = (call) => {
      if (call.request.kind === 'chat') return 'What is it?';
      return reply('', {
        embedding: call.request.kind === 'embedding' && call.request.input === 'What is it?' ? [1, 0] : [0, 1],
      });
    };
    const effects = benchEffects(answer);
    expect((await checkOn('It is tea', { type: 'answer-relevance', threshold: 0.9 }, { effects })).score).toBeCloseTo(
      1,
    );
    expect(effects.asked.filter(({ call }) => call.role === 'grader')).toHaveLength(3);
    const asked = { vars: { query: 'Something else' } };
    expect(
      (await checkOn('It is tea', { type: 'answer-relevance', threshold: 0.9 }, { answer, subject: asked })).pass,
    ).toBe(false);
    expect((await checkOn({ a: 1 }, { type: 'answer-relevance' }, { answer })).error).toMatch(/needs text/);
  });
});

describe('similar, moderation, classifier', () => {
  const vectors: Readonly<Record<string, readonly number[]>> = { cat: [1, 0], kitten: [0.8, 0.6], car: [0, 1] };
  const answer: Answering = ({ request }) =>
    reply('', { embedding: vectors[request.kind === 'embedding' ? request.input : ''] ?? [0, 0] });

  it.each([
    ['kitten', { type: 'similar', value: 'cat' }, true, 0.8],
    ['car', { type: 'similar', value: 'cat' }, false, 0],
    ['car', { type: 'not-similar', value: 'cat' }, true, 1],
    ['kitten', { type: 'similar:cosine', value: 'cat', threshold: 0.9 }, false, 0.8],
    ['kitten', { type: 'similar', value: ['car', 'cat'] }, true, 0.8],
    ['kitten', { type: 'similar', value: ['car', 'cat'], threshold: 0.9 }, false, 0.8],
    ['kitten', { type: 'not-similar', value: ['car', 'cat'] }, false, 0.2],
    ['kitten', { type: 'not-similar', value: ['car', 'cat'], threshold: 0.9 }, true, 0.2],
    ['kitten', { type: 'similar:dot', value: 'cat' }, true, 0.8],
    ['cat', { type: 'similar:euclidean', value: 'cat' }, true, 1],
    ['car', { type: 'similar:euclidean', value: 'cat' }, false, 1 / (1 + Math.SQRT2)],
    ['car', { type: 'not-similar:euclidean', value: 'cat' }, true, 1 - 1 / (1 + Math.SQRT2)],
  ] as const)('%s by %j: %s with %d', async (output, assertion, pass, score) => {
    const found = await checkOn(output, assertion, { answer });
    expect(found.pass).toBe(pass);
    expect(found.score).toBeCloseTo(score);
  });

  it('a model that compares sentences itself is asked for the similarity, once per value', async () => {
    const effects = benchEffects(({ request }) => reply('', { output: request.kind === 'similarity' ? 0.8 : 0 }));
    const provider = 'huggingface:sentence-similarity:a/b';
    expect(await checkOn('kitten', { type: 'similar', value: 'cat', provider }, { effects })).toMatchObject({
      pass: true,
      score: 0.8,
    });
    expect(effects.asked.map(({ call }) => call.request)).toEqual([
      { kind: 'similarity', expected: 'cat', input: 'kitten' },
    ]);
    const silent = benchEffects(() => reply(''));
    expect((await checkOn('x', { type: 'similar', value: 'y', provider }, { effects: silent })).error).toMatch(
      /no similarity/,
    );
  });

  it('a moderation model sees what the output answers', async () => {
    const effects = benchEffects(() => reply('', { flagged: false }));
    await checkOn('x', { type: 'moderation' }, { effects, subject: { prompt: 'asked' } });
    expect(effects.asked[0]?.call.request).toMatchObject({ kind: 'moderation', input: 'x', prompt: 'asked' });
  });

  it('embeddings that are missing or of another length are no verdict', async () => {
    expect((await checkOn('x', { type: 'not-similar', value: 'y' }, { answer: () => reply('') })).error).toMatch(
      /no embedding/,
    );
    const uneven: Answering = ({ request }) =>
      reply('', { embedding: request.kind === 'embedding' && request.input === 'x' ? [1] : [1, 2] });
    expect((await checkOn('x', { type: 'similar', value: 'y' }, { answer: uneven })).error).toMatch(/length/);
    expect((await checkOn('x', { type: 'similar', value: [] }, { answer })).error).toMatch(/needs a text/);
  });

  it.each([
    [{ type: 'moderation' }, false],
    [{ type: 'not-moderation' }, true],
    [{ type: 'moderation', value: ['hate'] }, true],
    [{ type: 'moderation', value: ['violence'] }, false],
  ] as const)('a text flagged for violence by %j: %s', async (assertion, pass) => {
    const found = await checkOn('x', assertion, {
      answer: () => reply('', { flagged: true, scores: { violence: 0.9 } }),
    });
    expect(found.pass).toBe(pass);
  });

  it('moderation of nothing asks nobody, and an answer without a verdict is none', async () => {
    const effects = benchEffects();
    expect((await checkOn('', { type: 'moderation' }, { effects })).pass).toBe(true);
    expect(effects.asked).toEqual([]);
    expect((await checkOn('x', { type: 'not-moderation' }, { effects })).error).toMatch(/no verdict/);
    expect((await checkOn('x', { type: 'moderation', value: 'hate' }, { effects })).error).toMatch(
      /list of categories/,
    );
  });

  it.each([
    [{ type: 'classifier', value: 'nice', threshold: 0.6 }, true, 0.7],
    [{ type: 'classifier', value: 'nice' }, false, 0.7],
    [{ type: 'classifier', value: 'rude', threshold: 0.6 }, false, 0],
    [{ type: 'not-classifier', value: 'rude', threshold: 0.6 }, true, 1],
    [{ type: 'classifier', threshold: 0.7 }, true, 0.7],
  ] as const)('a text that is 0.7 nice by %j: %s', async (assertion, pass, score) => {
    const found = await checkOn('x', assertion, { answer: () => reply('', { scores: { nice: 0.7, dull: 0.3 } }) });
    expect(found.pass).toBe(pass);
    expect(found.score).toBeCloseTo(score);
  });

  it('providers that know only answers may give scores, flags and embeddings as their output', async () => {
    const classes = () => reply('', { output: [[{ label: 'nice', score: 0.7 }]] });
    expect((await checkOn('x', { type: 'classifier', value: 'nice', threshold: 0.7 }, { answer: classes })).pass).toBe(
      true,
    );
    const flags = () => '{"flagged": true, "categories": ["hate"]}';
    expect((await checkOn('x', { type: 'moderation', value: ['hate'] }, { answer: flags })).pass).toBe(false);
    expect((await checkOn('x', { type: 'similar', value: 'y' }, { answer: () => '[1, 0]' })).score).toBeCloseTo(1);
  });

  it('each check of a case asks on paths of its own', async () => {
    const effects = benchEffects(() => graded(true, 1));
    const rubric = { type: 'llm-rubric', value: 'R' };
    await gradeOn(
      'x',
      [{ type: 'contains', value: 'x' }, { type: 'assert-set', assert: [rubric, { ...rubric }] }, rubric],
      { effects },
    );
    expect(effects.asked.map(({ path }) => path).sort()).toEqual(['grade/1/0', 'grade/2/0', 'grade/3/0']);
  });
});
