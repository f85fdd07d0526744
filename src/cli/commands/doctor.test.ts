import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../../test/support/command-line.ts';
import { json, startAnsweringServer } from '../../providers/fixtures/answering-server.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-doctor-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const canary = 'sk-canary-0123456789abcdef';
const doctor = (env: Record<string, string>, ...args: string[]) => commandLine({ cwd, env }, 'doctor', ...args);

const project = (providers: string, rest = ''): void =>
  writeFileSync(
    join(cwd, 'parlane.yaml'),
    `prompts: ['{{q}}']\nproviders:\n${providers}\ntests: [{ vars: { q: hi } }]\n${rest}`,
  );

const answer = (text: string): object => ({
  model: 'gpt-5-mini-2026',
  choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1 },
});

describe('doctor', () => {
  it('tells which keys are found and missing, with the line that needs each, and ends with 2', async () => {
    project('  - openai:gpt-5-mini\n  - id: anthropic:messages:claude-sonnet-4-6');
    const { out, code } = await doctor({ OPENAI_API_KEY: canary });
    expect(out).toMatch(/OPENAI_API_KEY +found +openai:gpt-5-mini \(parlane\.yaml:3\)/);
    expect(out).toMatch(
      /ANTHROPIC_API_KEY +missing +export ANTHROPIC_API_KEY=\.\.\. +or remove "anthropic:.*" from parlane\.yaml:4/,
    );
    expect(out).not.toContain(canary);
    expect(code).toBe(2);
  });

  it('looks at the models of conversations too', async () => {
    project(
      '  - sim:fast',
      'conversations: [{ scenarios: s.yaml, models: { agent: sim:agent, client: openai:gpt-5-mini } }]\n',
    );
    const { out } = await doctor({});
    expect(out).toMatch(/sim:agent +ready/);
    expect(out).toMatch(/OPENAI_API_KEY +missing/);
  });

  it('looks at the graders that tests need, also those that nobody named', async () => {
    project(
      '  - sim:fast',
      'defaultTest: {assert: [{type: similar, value: x}, {type: llm-rubric, value: y, provider: "groq:chat:m"}]}\n',
    );
    const { out, code } = await doctor({});
    expect(out).toMatch(
      /OPENAI_API_KEY +missing +.* or name another grader than openai:embedding:.* \(parlane\.yaml:5\)/,
    );
    expect(out).toMatch(/GROQ_API_KEY +missing +.* or remove "groq:chat:m" from parlane\.yaml:5/);
    expect(code).toBe(2);
    const found = await doctor({ OPENAI_API_KEY: canary, GROQ_API_KEY: canary });
    expect(found.out).toMatch(/OPENAI_API_KEY +found +openai:embedding:.*: grades similar \(parlane\.yaml:5\)/);
    expect(found.code).toBe(0);
  });

  it('tells storage, versions and the date of the prices, and is content without a config', async () => {
    const { out, code } = await doctor({});
    expect(out).toMatch(/config +none +none here; make one: parlane init/);
    expect(out).toMatch(/storage +none/);
    expect(out).toMatch(/node +ok +\d+\.\d+/);
    expect(out).toMatch(/prices +ok +table of \d{4}-\d\d-\d\d/);
    expect(code).toBe(0);
  });

  it('tells a broken config and an unknown provider', async () => {
    project('  - opnai:gpt-5-mini');
    const { out, code } = await doctor({});
    expect(out).toMatch(/broken +.*opnai.*openai.*parlane\.yaml:3/);
    expect(code).toBe(2);
    writeFileSync(join(cwd, 'parlane.yaml'), 'providers: {a: [');
    expect(await doctor({})).toMatchObject({ code: 2, out: expect.stringMatching(/config +broken +parlane\.yaml:1/) });
  });

  it('sends nothing unless asked; with --probe it makes one call and remembers the limits', async () => {
    await using server = await startAnsweringServer(
      json(answer('ok'), 200, {
        'x-ratelimit-limit-requests': '500',
        'x-ratelimit-remaining-requests': '499',
        'x-ratelimit-reset-requests': '120ms',
      }),
    );
    project(`  - id: openai:chat:gpt-5-mini\n    config: { apiBaseUrl: '${server.url}/v1' }`);
    await doctor({ OPENAI_API_KEY: canary });
    expect(server.seen).toHaveLength(0);
    const { out, code } = await doctor({ OPENAI_API_KEY: canary }, '--probe');
    expect(out).toMatch(
      /OPENAI_API_KEY +found +openai:chat:gpt-5-mini: gpt-5-mini-2026 answers; 500 requests\/min \(from headers\)/,
    );
    expect(server.seen).toHaveLength(1);
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, '.parlane/parlane.db')).includes(canary)).toBe(false);
  });

  it('tells a key that is refused, without showing it', async () => {
    await using server = await startAnsweringServer(json({ error: { message: `Incorrect API key: ${canary}` } }, 401));
    project(`  - id: openai:chat:gpt-5-mini\n    config: { apiBaseUrl: '${server.url}/v1' }`);
    const { out, code } = await doctor({ OPENAI_API_KEY: canary }, '--probe', '--json');
    expect(JSON.parse(out).findings).toContainEqual(
      expect.objectContaining({ name: 'OPENAI_API_KEY', state: 'broken' }),
    );
    expect(out).not.toContain(canary);
    expect(code).toBe(2);
  });
});
