/** The tool rows of the fault matrix, each met once with its reaction; details are in `tool-fault-rows.test.ts`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { deskText, lastMessages, type Played, play, specificationOf } from '../../test/conversation/desk.ts';
import type { Json } from '../domain/json.ts';
import { createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { faultMatrix } from '../testing/fault-matrix.ts';
import { replyOf } from './memory-effects.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlane-fault-rows-'));
writeFileSync(
  join(folder, 'bad.mjs'),
  `export const throws = () => { throw new Error('broken'); };
export const hangs = () => new Promise(() => {});
export const nothing = () => undefined;
export const bytes = () => Buffer.from('abc');
export const cycle = () => { const a = {}; a.self = a; return a; };
export const huge = () => 'x'.repeat(50_000_000);
`,
);
const code = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: folder });
afterAll(async () => {
  await code.close();
  rmSync(folder, { recursive: true });
});
const names = ['throws', 'hangs', 'nothing', 'bytes', 'cycle', 'huge'];
const lines = names.map(
  (name) =>
    `  ${name}: {description: d, timeoutMs: ${name === 'hangs' ? 500 : 60_000}, parameters: {type: object}, backend: {module: "bad.mjs#${name}"}}`,
);
const withModules = await specificationOf(
  `${deskText.replace('tools: [find_products,', `tools: [${names.join(', ')}, find_products,`)}${lines.join('\n')}\n`,
);

const hello = replyOf('Good morning.');
const bye = replyOf('Bye.', [['end_call', {}]]);
type Call = readonly [string, Json | string, string?];
const meet = (...calls: readonly Call[]): Promise<Played> =>
  play({
    setup: { snapshot: { ...withModules, folder } },
    ports: { code },
    answers: {
      'agent:agent': [replyOf('', calls), hello],
      'agent:support': [replyOf('', [['handoff_agent', { reason: 'you' }]])],
      client: [bye],
    },
  });

const rows: Readonly<Record<string, () => Promise<Played>>> = {
  T1: () => meet(['find_products', '{"query": ']),
  T2: () => meet(['find_products', '["liver"]']),
  T3: () => meet(['find_products', '{}{}']),
  T4: () => meet(['find_productsfind_products', {}]),
  T5: () => meet(['teleport', {}]),
  T6: () => meet(['handoff_nobody', { reason: 'x' }]),
  T7: () => meet(['handoff_agent', { reason: 'x' }]),
  T8: () =>
    play({
      answers: {
        'agent:agent': [replyOf('', [['handoff_support', { reason: 'you' }]])],
        'agent:support': [replyOf('', [['handoff_agent', { reason: 'you' }]])],
      },
    }),
  T9: () => meet(['slow', { n: 1 }, 'same'], ['slow', { n: 2 }, 'same'], ['slow', { n: 3 }, '']),
  T10: () => meet(['slow', {}, 'x']),
  T11: () => meet(['slow', { n: 1 }], ['end_call', {}], ['slow', { n: 2 }]),
  T12: () => meet(['raw', `{"text": "${'x'.repeat(5_000_000)}"}`]),
  T13: () => play({ answers: { 'agent:agent': [replyOf('', [['slow', {}]])] } }),
  T14: () => meet(['throws', {}]),
  T15: () => meet(['hangs', {}]),
  T16: () => meet(['nothing', {}]),
  T17: () => meet(['bytes', {}]),
  T18: () => meet(['cycle', {}]),
  T19: () => meet(['huge', {}]),
  T20: () => meet(['fake_handoff', {}]),
};

describe('the tool rows of the fault matrix', () => {
  it('are all met here', () => {
    expect(Object.keys(rows)).toEqual(faultMatrix.tools.map(({ id }) => id));
  });

  it.each(faultMatrix.tools.map((row) => [row.id, row.title, row] as const))('%s %s', async (id, _, { reaction }) => {
    const { result, effects } = await (rows[id] as () => Promise<Played>)();
    const results = result.conversation_history[0]?.tool_results ?? [];
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
    switch (reaction) {
      case 'tell-model':
        expect(result.status).toBe('completed');
        expect(results).toEqual([{ error: expect.stringMatching(/^Tool execution failed: ./) }]);
        expect(lastMessages(effects, 'agent:agent').filter(({ role }) => role === 'tool')).toHaveLength(1);
        return;
      case 'end-conversation':
        expect(result).toMatchObject({
          status: 'failed',
          termination_reason: 'tool_loop',
          error: expect.stringMatching(/turn 1/),
        });
        return;
      default:
        expect(result.status).toBe('completed');
        expect(JSON.stringify(results)).not.toContain('Tool execution failed');
        expect(result.metrics.handoff_path).toEqual(['agent']);
    }
  });
});
