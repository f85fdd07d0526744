/** A redacted export holds nothing that people, models or tools wrote, in any format: 0 hits. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, type Said } from '../../test/support/command-line.ts';
import { unpackedReport } from '../../test/support/packed-report.ts';

const canary = 'canarytext';
/** A number that somebody wrote. */
const account = 4_711_174_711;

const config = `
description: redacted
prompts:
  - '${canary}-inline {{q}}'
  - file://plain.txt
  - file://page.md
  - { id: 'file://named.md', label: formal }
  - { raw: '{"role":"user","content":"${canary}-json {{q}}"}', label: '{"role":"user","content":"${canary}-json {{q}}"}' }
providers: [echo, { id: 'sim:instant', label: quick }]
tests:
  - description: first test
    vars: { q: '${canary}-var', deep: { '${canary}-key': ${account} } }
    assert:
      - { type: contains, value: '${canary}-value' }
      - { type: is-json, value: { '${canary}-unknown-keyword': 1 } }
  - vars: { q: '${canary}-second' }
    assert: [{ type: is-json, value: { required: ['${canary}-required'] }, config: { name: '${canary}-name' } }]
  - { description: turned, vars: { q: '${canary}-turned' }, assert: [{ type: contains, value: '${canary}-turned' }] }
conversations:
  - spec: desk
    use_tools: true
    scenarios:
      - name: talk
        variables: { goal: '${canary}-goal' }
        script: ['${canary}-script', 'please find it']
      - { name: free talk, variables: { goal: 'to find a room, ${canary}-free' }, max_turns: 4 }
    models: { agent: 'sim:agent?latency=1', client: 'sim:client?latency=1', judge: 'sim:judge?latency=1' }
`;

const specification = `
name: desk
version: "1"
world: { rooms: [{ id: '${canary}-id', name: '${canary}-room', price: ${account} }] }
agents:
  agent: { name: Desk, prompt: '${canary}-agent. Find rooms.', tools: [find_room] }
  client: { name: Caller, prompt: '${canary}-client. {{ goal }}' }
  evaluator: { name: Judge, prompt: '${canary}-judge' }
tools:
  find_room:
    description: '${canary}-tool'
    parameters: { type: object, properties: {} }
    backend: { state: { do: list, at: rooms } }
`;

let cwd: string;
let before: string;
const run = (...args: string[]): Promise<Said> => commandLine({ cwd }, ...args);

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-redacted-'));
  const files = {
    'parlane.yaml': config,
    'prompts/desk.yaml': specification,
    'plain.txt': `${canary}-plain {{q}}`,
    'page.md': `# ${canary}-page\n\n{{q}}`,
    'named.md': `${canary}-named {{q}}`,
  };
  mkdirSync(join(cwd, 'prompts'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  await run('run', '--yes', '--plain');
  before = JSON.parse((await run('runs', '--json')).out).runs[0].id;
  // What passed fails, so that the comparison has something to show.
  writeFileSync(join(cwd, 'parlane.yaml'), config.replace(`value: '${canary}-turned'`, 'value: never-said'));
  await run('run', '--yes', '--plain');
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('a redacted export', () => {
  it.each(['csv', 'jsonl', 'junit', 'html'])('as %s holds nothing that anybody wrote', async (format) => {
    const against = format === 'html' ? ['--against', before] : [];
    const written = async (...args: string[]): Promise<string> => {
      const file = join(cwd, `out.${format}`);
      const said = await run('export', '--format', format, '-o', file, ...against, ...args);
      expect(said.code, said.err).toBe(0);
      return unpackedReport(readFileSync(file, 'utf8'));
    };
    expect(await written()).toContain(canary);
    const redacted = await written('--redact');
    for (const text of [canary, String(account), cwd]) expect(redacted).not.toContain(text);
    expect(redacted).toContain('first test');
    expect(redacted).toContain('free talk');
  });

  it('still tells the columns apart: by the names people gave, else by number', async () => {
    const { out } = await run('export', '--format', 'csv', '--redact');
    const columns = out
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',').slice(3, 5).join(' / '));
    const prompts = ['prompt 1', 'prompt 2', 'prompt 3', 'formal', 'prompt 4'];
    const expected = ['echo', 'quick'].flatMap((provider) => prompts.map((prompt) => `${provider} / ${prompt}`));
    expect([...new Set(columns)]).toEqual([...expected, 'sim:agent?latency=1 / desk']);
  });
});
