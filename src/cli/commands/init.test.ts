import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commandLine } from '../../../test/support/command-line.ts';
import { templates } from '../templates.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-init-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const parlane = (...args: string[]) => commandLine({ cwd }, ...args);
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8');

/** The same models without their waiting times. */
function hurry(): void {
  const text = read('parlane.yaml')
    .replaceAll('sim:client', 'sim:client?latency=1ms')
    .replaceAll('sim:judge', 'sim:judge?latency=1ms')
    .replaceAll('sim:agent', 'sim:agent?latency=1ms')
    .replace('config: { rpm: 120, burst: 4 }', 'config: { rpm: 6000, burst: 100, latency: 1ms }')
    .replace('      # This one happens', '      latency: 1ms\n      # This one happens');
  writeFileSync(join(cwd, 'parlane.yaml'), text);
}

describe('init', () => {
  it('writes the project of the first five minutes, and says what comes next', async () => {
    const { out, code } = await parlane('init');
    expect(out).toMatch(/^No account, no API key/);
    expect(out).toMatch(/created {2}parlane\.yaml +8 tests, 2 conversations, 4 simulated models/);
    expect(out).toMatch(/created {2}\.gitignore entry +\.parlane\/\n\nNext: {2}npx parlane run\n$/);
    expect(code).toBe(0);
    expect(read('parlane.yaml')).toMatch(/^# yaml-language-server: \$schema=\.\/parlane\.schema\.json\n/);
    expect(read('.gitignore')).toBe('.parlane/\n');
  });

  it('writes a project whose two failures a better prompt mends, and compare tells', async () => {
    await parlane('init', '--yes');
    hurry();
    const first = await parlane('run', '--yes');
    expect(first).toMatchObject({ code: 100 });
    expect(first.out + first.err).toContain('16 passed   2 failed   0 errors');
    expect((await parlane('show', '18')).out).toMatch(
      /angry-client {3}failed[\s\S]*money back today[\s\S]*FAILED {2}judge/,
    );
    expect((await parlane('show', '8')).out).toMatch(/over-limit {3}failed[\s\S]*manager/);
    const better = read('parlane.yaml')
      .replace('prompts/refund.md', 'prompts/refund-v2.md')
      .replace('spec: refund ', 'spec: refund-v2 ');
    writeFileSync(join(cwd, 'parlane.yaml'), better);
    const second = await parlane('run', '--yes');
    expect(second.out + second.err).toContain('18 passed   0 failed   0 errors');
    expect(second.code).toBe(0);
    expect((await parlane('compare')).out).toMatch(
      /18 cases in both[\s\S]*better +2 +#8, #18[\s\S]*89 % -> 100 %.*p = 0\.50/,
    );
  }, 30_000);

  it.each(templates.map(({ name }) => name))(
    'the template %s passes check, and fits the schema beside it',
    async (name) => {
      await parlane('init', name);
      expect(await parlane('check')).toMatchObject({ code: 0, err: '' });
      const validate = new Ajv({ strict: false }).compile(JSON.parse(read('parlane.schema.json')));
      expect(validate(parse(read('parlane.yaml'))), JSON.stringify(validate.errors)).toBe(true);
    },
  );

  it('overwrites nothing, and writes nothing when something is in the way', async () => {
    writeFileSync(join(cwd, 'parlane.yaml'), 'mine');
    const { err, code } = await parlane('init');
    expect(err).toMatch(/parlane\.yaml is already here, and nothing was written/);
    expect(code).toBe(2);
    expect(read('parlane.yaml')).toBe('mine');
    expect(existsSync(join(cwd, 'prompts'))).toBe(false);
  });

  it('adds to a .gitignore that is there, once', async () => {
    writeFileSync(join(cwd, '.gitignore'), 'node_modules');
    await parlane('init');
    expect(read('.gitignore')).toBe('node_modules\n.parlane/\n');
    rmSync(join(cwd, 'parlane.yaml'));
    for (const path of ['scenarios.yaml', 'parlane.schema.json', 'prompts'])
      rmSync(join(cwd, path), { recursive: true });
    expect(JSON.parse((await parlane('init', '--json')).out).created).not.toContain('.gitignore');
    expect(read('.gitignore')).toBe('node_modules\n.parlane/\n');
  });

  it.each([
    [['init', 'agent'], /no template "agent".*Did you mean "agents"/],
    [['init', 'chat', '--template', 'prompt'], /exclude each other/],
    [['init', '--tmplate', 'x'], /Did you mean --template/],
    [['schema', '--of', 'everything'], /Allowed choices are config, result/],
    [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
    [['completion'], /missing required argument 'shell'/],
  ])('%j is one clear message and exit code 2', async (args, message) => {
    const { err, code } = await parlane(...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });
});

describe('schema', () => {
  it('prints the schema of the config, and of a conversation result', async () => {
    expect(JSON.parse((await parlane('schema')).out)).toMatchObject({ title: 'Parlane config' });
    const result = JSON.parse((await parlane('schema', '--of', 'result')).out);
    expect(result.properties).toHaveProperty('conversation_history');
    await parlane('schema', '-o', 'x.json');
    expect(JSON.parse(read('x.json'))).toHaveProperty('properties.conversations');
  });
});

describe('completion', () => {
  it('knows every command and its flags, in scripts that the shell accepts', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { out } = await parlane('completion', shell);
      for (const word of ['compare', 'fail-on-worse', 'baseline', 'init']) expect(out).toContain(word);
    }
    const { out } = await parlane('completion', 'bash');
    const asked = `${out}\nCOMP_WORDS=(parlane compare --fa) COMP_CWORD=2; _parlane; echo "\${COMPREPLY[@]}"`;
    expect(spawnSync('bash', ['-c', asked], { encoding: 'utf8' }).stdout.trim()).toBe('--fail-on-worse');
  });
});

describe('help', () => {
  it('begins with examples', async () => {
    for (const name of ['init', 'show', 'compare', 'export', 'runs', 'schema', 'completion']) {
      const { out, code } = await parlane(name, '--help');
      expect(out, name).toMatch(/^Examples:\n(?: {2}parlane .*\n){3}/);
      expect(code).toBe(0);
    }
  });
});
