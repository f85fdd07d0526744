import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';
import type { Case } from '../domain/case.ts';
import { caseIndex } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import { conversationOf, promptOf } from '../reporters/conversation-view.ts';
import { openStore } from '../store/open-store.ts';
import type { StepRecord } from '../store/store.ts';
import { rowSoFar } from './row-so-far.ts';

/** The case's ways to say the same: with its row, and with every step that led to it. */
interface Played {
  readonly one: Case;
  readonly row: Row;
  readonly steps: readonly StepRecord[];
}

const config = `prompts: ["Say {{word}}"]
providers: [sim:echo]
tests: [{description: apple, vars: {word: apple}, assert: [{type: contains, value: never}]}]
conversations:
  - spec: order_desk
    scenarios:
      - {name: played, variables: {SEED: 7, client_name: Ada, goal: order two boxes of apples for tomorrow}}
      - name: scripted
        variables: {SEED: 7, client_name: Ada, goal: order apples}
        script: ["Two boxes of apples, please.", "Tomorrow is fine."]
    models: {agent: "sim:agent?latency=1ms", client: "sim:client?latency=1ms", judge: "sim:judge?latency=1ms"}
`;

let cwd: string;
const played: Played[] = [];
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-so-far-'));
  writeFileSync(join(cwd, 'parlane.yaml'), config);
  await commandLine({ cwd }, 'run', '--no-forecast');
  const store = await openStore({ at: join(cwd, '.parlane') });
  const [record] = await store.runs();
  const run = record === undefined ? undefined : await store.openRun(record.id);
  for (const { row } of (await run?.rows({ after: -1, limit: 10 })) ?? []) {
    const one = await run?.case(row.index);
    if (one !== undefined) played.push({ one, row, steps: (await run?.steps(row.index)) ?? [] });
  }
  await store.close();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const named = (name: string): Played => {
  const found = played.find(({ one }) => one.name.includes(name));
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
};

/** Who said what and called what, turn by turn. */
const said = (row: Row): { turn: number; who: string; words: string; tools: string[] }[] => {
  const turns = new Map<string, { turn: number; who: string; words: string; tools: string[] }>();
  for (const { turn, side, agent, content, tools } of conversationOf(row)?.entries ?? []) {
    const key = `${turn} ${side} ${agent}`;
    const entry = turns.get(key) ?? { turn, who: `${side} ${agent}`, words: '', tools: [] };
    entry.words = [entry.words, content].filter((text) => text !== '').join('\n');
    entry.tools.push(...tools.map((tool) => `${tool.name} ${tool.arguments}`));
    turns.set(key, entry);
  }
  return [...turns.values()];
};

const upTo = (steps: readonly StepRecord[], count: number): StepRecord[] =>
  steps.filter(({ kind }) => kind !== 'clock' && kind !== 'random').slice(0, count);

describe('what is known of a case so far', () => {
  it('is its whole conversation once all steps are there: played or scripted, with tools and handoffs', () => {
    for (const name of ['played', 'scripted']) {
      const { one, row, steps } = named(name);
      const full = said(row).filter(({ words }) => !words.startsWith('[ended the call: script'));
      const found = said(rowSoFar(one, steps)).filter(({ words }) => words !== '...');
      expect(found).toEqual(full);
      expect(found.length).toBeGreaterThan(3);
    }
    const tools = said(named('played').row).flatMap((each) => each.tools);
    expect(tools.some((tool) => tool.startsWith('handoff_'))).toBe(true);
  });

  it('has the same prices, tokens and times as the row has', () => {
    const measured = ({ costUsdMicros, latencyMs, queueMs, backoffMs, attempts, usage }: Row): object => {
      return { costUsdMicros, latencyMs, queueMs, backoffMs, attempts, usage };
    };
    for (const name of ['apple', 'played', 'scripted']) {
      const { one, row, steps } = named(name);
      expect(measured(rowSoFar(one, steps))).toEqual(measured(row));
    }
    expect(named('played').row.latencyMs).toBeGreaterThan(0);
  });

  it('grows with every step and marks what has no answer yet', () => {
    const { one, steps } = named('played');
    let words = 0;
    for (let count = 1; count < 6; count += 1) {
      const now = conversationOf(rowSoFar(one, upTo(steps, count)))?.entries ?? [];
      expect(now.length).toBeGreaterThanOrEqual(words);
      words = now.length;
    }
    expect(words).toBeGreaterThan(1);
    const [first] = upTo(steps, 1);
    if (first === undefined) throw new Error('a conversation has a first step');
    const { answer: _, ...asked } = first;
    expect(said(rowSoFar(one, [asked]))).toEqual([{ turn: 1, who: 'agent agent', words: '...', tools: [] }]);
  });

  it('is the prompt before there is an answer, then both, and nothing before anything was asked', () => {
    const { one, row, steps } = named('apple');
    const [asking] = steps.filter(({ path }) => path === 'prompt');
    if (asking === undefined) throw new Error('a prompt case asks');
    const { answer: _, ...asked } = asking;
    expect(promptOf(rowSoFar(one, [asked]))).toBe('Say apple');
    expect(rowSoFar(one, [asked]).output).toBeNull();
    expect(rowSoFar(one, steps).output).toEqual(row.output);
    expect(rowSoFar(one, [])).toMatchObject({ index: caseIndex(0), output: null, costUsdMicros: 0 });
  });

  it('takes the newest of several sends', () => {
    const { one, steps } = named('apple');
    const [asking] = steps.filter(({ path }) => path === 'prompt');
    if (asking === undefined) throw new Error('a prompt case asks');
    const { answer: _, ...lost } = asking;
    const again = { ...asking, send: 2 };
    expect(rowSoFar(one, [again, lost])).toEqual(rowSoFar(one, [asking]));
  });
});
