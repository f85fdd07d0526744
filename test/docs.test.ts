/** The docs say what the program does: every command and flag is described, and every command of the first page works. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTable } from '../src/cli/command-table.ts';
import { addCommand, newProgram } from '../src/cli/program.ts';
import { conversationSchema } from '../src/config/schema.ts';
import { caseKeys, type KeyBinding, keyNames, viewKeys } from '../src/reporters/terminal/keymap.ts';
import { commandLine, testContext } from './support/command-line.ts';

const page = (name: string): string => readFileSync(join(import.meta.dirname, '../docs', name), 'utf8');

describe('docs/configuration.md', () => {
  it('explains every key of a batch of conversations', () => {
    const rows = [...page('configuration.md').matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
    for (const key of Object.keys(conversationSchema.shape)) {
      expect(
        rows.some((cell) => cell.includes(`\`${key}\``)),
        key,
      ).toBe(true);
    }
  });
});

describe('docs/commands.md', () => {
  const text = page('commands.md');
  it.each(commandTable.map(({ name }) => name))('describes %s with all its flags', async (name) => {
    const [, section = ''] = new RegExp(`\\n## \`${name}\\b[^\`]*\`\\n([\\s\\S]*?)(?=\\n## |$)`).exec(text) ?? [];
    const { context } = testContext({ cwd: '.' });
    const program = newProgram(context, true);
    for (const entry of commandTable) if (entry.name === name) await addCommand(program, entry, true, context);
    // Hidden ones are flags of others that Parlane answers with a sentence; docs/evals.md names them.
    const options = program.commands[0]?.options.filter(({ hidden }) => !hidden) ?? [];
    const flags = options.flatMap(({ long }) => long ?? []);
    const missing = flags.filter((flag) => !`${section}${text.slice(0, text.indexOf('<!--'))}`.includes(flag));
    expect(missing, 'run: node scripts/write-command-docs.ts').toEqual([]);
    expect(section).toContain(`    parlane ${name}`);
  });
});

describe('docs/reports.md', () => {
  const [, view = '', open = ''] = page('reports.md').split(/^\| key.*\|\n\|---\|---\|\n/m);
  const keysIn = (table: string): Set<string> =>
    new Set([...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => cell.replaceAll(/`|,/g, '').split(' ')));
  const names = (bindings: readonly KeyBinding[]): Set<string> =>
    new Set(bindings.flatMap((binding) => keyNames(binding).split(' ')));

  it('names exactly the keys that the live view hears', () => {
    expect(keysIn(view.split('\n\n')[0] ?? '')).toEqual(names(viewKeys));
    expect(keysIn(open.split('\n\n')[0] ?? '')).toEqual(names(caseKeys));
  });
});

describe('docs/getting-started.md', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'parlane-docs-'));
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  const lines = [...page('getting-started.md').matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => line !== '');

  it('holds commands that work, one after the other', async () => {
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const [command = '', remark = ''] = line.split('#');
      const args = command.trim().split(/\s+/).slice(2);
      const { code, err } = await commandLine({ cwd }, ...args);
      expect(code, `${line}\n${err}`).toBe(Number(/exit code (\d+)/.exec(remark)?.[1] ?? 0));
    }
  }, 60_000);
});
