/** Keys of the environment and of a config stay out of everything that is kept, written or told: 0 hits. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';
import { unpackedReport } from '../../test/support/packed-report.ts';
import { type AnsweringServer, startAnsweringServer } from '../providers/fixtures/answering-server.ts';

const canaries = {
  environment: 'canaryenv8f2k1qz7w0',
  config: 'canarycfg5t9m3xv6b1',
  header: 'canaryhdr2p7n4cy8d5',
  token: 'canarytok6r1j9hs3g2',
  configEnvironment: 'canaryown4w8u2ek5f7',
};
const env = { OPENAI_API_KEY: canaries.environment, PATH: process.env['PATH'] ?? '' };

let cwd: string;
let server: AnsweringServer;
/** Everything that any command said. */
let told = '';

/** A server that repeats what it was sent, credentials first: the worst that can happen. */
const echoing = (status: (path: string) => number) =>
  startAnsweringServer((response, { headers, path, text }) => {
    const secret = `${headers.authorization} ${headers['x-secret'] ?? ''}`;
    const code = status(path);
    const body =
      code === 200
        ? {
            model: 'm',
            choices: [{ message: { role: 'assistant', content: `you sent ${secret}` }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1 },
          }
        : { error: { message: `refused: ${secret} ${text.slice(0, 20)}` } };
    response.writeHead(code, { 'content-type': 'application/json', 'x-echo': secret }).end(JSON.stringify(body));
  });

const config = (): string => `
description: canary
env: { GROQ_API_KEY: ${canaries.configEnvironment} }
prompts: ['Say {{q}}']
providers:
  - { id: 'openai:chat:a', config: { apiBaseUrl: '${server.url}/ok' } }
  - { id: 'openai:chat:b', config: { apiBaseUrl: '${server.url}/ok', apiKey: ${canaries.config} } }
  - { id: 'openai:chat:c', config: { apiBaseUrl: '${server.url}/ok', headers: { x-secret: ${canaries.header} } } }
  - { id: 'openai:chat:d', config: { apiBaseUrl: '${server.url}/refuse', apiKey: ${canaries.config} } }
  - { id: 'groq:e', config: { apiBaseUrl: '${server.url}/ok' } }
  - id: '${server.url}/ok/http'
    config:
      method: POST
      body: { text: '{{ prompt }}' }
      auth: { type: bearer, token: ${canaries.token} }
tests:
  - { vars: { q: hello }, assert: [{ type: contains, value: never-said }] }
conversations:
  - { scenarios: [{ name: talk }], max_turns: 1, models: { agent: 'openai:chat:b', client: 'openai:chat:a' } }
`;

const parlane = async (...args: string[]) => {
  const said = await commandLine({ cwd, env }, ...args);
  told += said.out + said.err;
  return said;
};

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-canary-'));
  server = await echoing((path) => (path.startsWith('/refuse') ? 401 : 200));
  writeFileSync(join(cwd, 'parlane.yaml'), config());
  await parlane('run', '--yes');
  await parlane('eval', '-o', 'eval.json', '-o', 'eval.csv', '-o', 'eval.html');
  for (const line of [
    ...[
      'run --yes --debug --only 4',
      'run --json --yes',
      'runs',
      'compare',
      'compare --format md',
      'compare --format html',
    ],
    ...[
      'show 1',
      'show 2 --raw',
      'show 3 --json --raw',
      'show 4 --raw',
      'show 5 --json',
      'show 6 --raw',
      'show 7 --unfold',
    ],
    ...[
      'show 7 --raw',
      'doctor',
      'doctor --probe',
      'doctor --probe --json',
      'plan',
      'plan --json',
      'check',
      'check --json',
    ],
    ...[
      'export',
      'export --format csv -o out.csv',
      'export --format jsonl -o out.jsonl',
      'export --format junit -o out.xml',
    ],
    ...['export --format csv', 'export --format jsonl', 'export --format junit', 'export --redact -o redacted.html'],
    ...['summary', 'resume --debug', 'export nope --debug', 'run missing.yaml --debug'],
  ])
    await parlane(...line.split(' '));
}, 60_000);

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(cwd, { recursive: true, force: true });
});

function filesBelow(folder: string): { name: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'parlane.yaml')
    .map((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'latin1');
      return { name: entry.name, text: entry.name.endsWith('.html') ? unpackedReport(text) : text };
    });
}

const hits = (text: string): string[] =>
  Object.entries(canaries).flatMap(([name, canary]) => {
    const forms = [canary, Buffer.from(canary).toString('base64').slice(0, 20), encodeURIComponent(canary)];
    return forms.some((form) => text.includes(form)) ? [name] : [];
  });

describe('the secrets canary', () => {
  it('was really sent: every key reached the server', () => {
    const sent = JSON.stringify(server.seen.map(({ headers }) => headers));
    for (const canary of Object.values(canaries)) expect(sent).toContain(canary);
  });

  it('is in no file: store, journal, cache, exports, reports', () => {
    const files = filesBelow(cwd);
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'parlane.db',
        'report.html',
        'out.csv',
        'out.jsonl',
        'out.xml',
        'compare.html',
        'redacted.html',
        'eval.json',
      ]),
    );
    expect(files.filter(({ text }) => text.includes('you sent')).length).toBeGreaterThan(3);
    expect(files.flatMap(({ name, text }) => hits(text).map((hit) => `${hit} in ${name}`))).toEqual([]);
  });

  it('is in nothing that was told: results, errors, stacks', () => {
    expect(told).toContain('you sent');
    expect(told).toMatch(/401|refused|does not answer/);
    expect(told.split('\n').filter((line) => hits(line).length > 0)).toEqual([]);
  });

  it('stays out of what the program itself prints', () => {
    const bin = join(import.meta.dirname, '../../bin/parlane.js');
    const run = (...args: string[]): string => {
      const { stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd, env, encoding: 'utf8' });
      return stdout + stderr;
    };
    const said = run('show', '1', '--raw') + run('doctor');
    expect(said).toContain('you sent');
    expect(said).toMatch(/OPENAI_API_KEY +found/);
    expect(hits(said)).toEqual([]);
  });
});
