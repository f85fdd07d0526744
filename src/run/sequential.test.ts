import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoProvider, hostOf, promptCase, render, reply, short, textOf } from '../../test/support/run-harness.ts';
import type { PromptCase } from '../domain/case.ts';
import type { Json } from '../domain/json.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { openStore } from '../store/open-store.ts';
import { resumeRun, runPlan } from './run-plan.ts';

/** What a case is, drawn at random. */
interface Draw {
  readonly column: number;
  readonly serial: boolean;
  readonly register: string | undefined;
  readonly key: string | undefined;
  readonly prompt: string;
}

const draw: fc.Arbitrary<Draw> = fc.record({
  column: fc.integer({ min: 0, max: 2 }),
  serial: fc.boolean().map((yes) => yes),
  register: fc.option(fc.constantFrom('x', 'y'), { nil: undefined, freq: 2 }),
  key: fc.option(fc.constantFrom('k', 'l'), { nil: undefined, freq: 2 }),
  prompt: fc.constantFrom(
    'ask {{x}}',
    'ask {{y}} {{_conversation}}',
    'ask',
    'tell {{x}}{{y}}',
    'go on {{_conversation}}',
  ),
});

const caseOf = ({ column, serial, register, key, prompt }: Draw, index: number): PromptCase =>
  promptCase(index, {
    column: { position: column, provider: `p${column % 2}`, prompt: `q${column}` },
    prompt,
    ...(serial ? { serial } : {}),
    ...(register === undefined ? {} : { storeAs: register }),
    ...(key === undefined ? {} : { conversationKey: `${column} ${key}` }),
  });

const speak = (provider: string, prompt: string): string =>
  prompt.length % 5 === 0 ? '' : `${provider}:${short(prompt)}`;

/** The plain meaning: serial cases first, then the others, one after another. */
function oracle(cases: readonly PromptCase[]): Map<number, string> {
  const outputs = new Map<number, string>();
  const registers = new Map<number, Record<string, Json>>();
  const exchanges = new Map<string, Json[]>();
  for (const one of [...cases.filter(({ serial }) => serial), ...cases.filter(({ serial }) => !serial)]) {
    const mine = registers.get(one.column.position) ?? {};
    registers.set(one.column.position, mine);
    const said = exchanges.get(one.conversationKey ?? '') ?? [];
    const history = one.conversationKey === undefined ? {} : { _conversation: [...said] };
    const prompt = render(one.prompt, { ...one.vars, ...mine, ...history });
    const output = speak(one.column.provider, prompt);
    outputs.set(one.index, output);
    if (one.storeAs !== undefined && output !== '') mine[one.storeAs] = output;
    if (one.conversationKey === undefined) continue;
    exchanges.set(one.conversationKey, [...said, { prompt, input: prompt, output }]);
  }
  return outputs;
}

/** Answers after a number of turns of the event loop that no order can be read from. */
const jumpy = (seed: number) => (name: string) => {
  let state = seed;
  return echoProvider(name, async (request) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    for (let left = state % 5; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
    return reply(speak(name, textOf(request)));
  });
};

async function outputsOf(
  cases: readonly PromptCase[],
  serialize: 'global' | 'conversation',
  seed: number,
  stopAt?: number,
) {
  const store = await openStore({ at: ':memory:' });
  const controller = new AbortController();
  let ended = 0;
  const observers = [() => (++ended === stopAt ? controller.abort() : undefined)];
  const host = hostOf(store, { provider: jumpy(seed) });
  let outcome = await runPlan(
    { name: '', snapshot: {}, cases, settings: { serialize } },
    { ...host, signal: controller.signal, observers },
  );
  if (!outcome.complete) outcome = await resumeRun(outcome.run, host);
  const run = await store.openRun(outcome.run);
  const rows = (await run?.rows({ after: -1, limit: 500 })) ?? [];
  await store.close();
  return new Map(rows.map(({ row }) => [row.index as number, row.output]));
}

describe.each(['global', 'conversation'] as const)(
  'registers, conversation keys and serial cases with serialize: %s',
  (mode) => {
    it('give what a sequential run gives, with and without an interruption', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(draw, { minLength: 1, maxLength: 30 }),
          fc.integer({ min: 1, max: 1_000_000 }),
          fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
          async (draws, seed, stopAt) => {
            const cases = draws.map(caseOf);
            expect(await outputsOf(cases, mode, seed, stopAt)).toEqual(oracle(cases));
          },
        ),
        { numRuns: 150 },
      );
    });
  },
);

it('lets columns and conversations run beside each other when they may', async () => {
  const cases = Array.from({ length: 24 }, (_, index) =>
    caseOf({ column: index % 3, serial: false, register: undefined, key: index % 2 ? 'k' : 'l', prompt: 'ask' }, index),
  );
  const peak = async (serialize: 'global' | 'conversation'): Promise<number> => {
    const store = await openStore({ at: ':memory:' });
    let [now, most] = [0, 0];
    const provider = (name: string) =>
      echoProvider(name, async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
        return reply('a:b');
      });
    await runPlan({ name: '', snapshot: {}, cases, settings: { serialize } }, hostOf(store, { provider }));
    return most;
  };
  expect(await peak('global')).toBe(1);
  expect(await peak('conversation')).toBeGreaterThan(3);
});

it('shows a case what came before it, although a later writer has finished first', async () => {
  const column = { position: 0, provider: 'p0', prompt: 'q' };
  const cases = [
    promptCase(0, { column, prompt: 'first', storeAs: 'x' }),
    promptCase(1, { column, prompt: 'slow', conversationKey: 'k' }),
    promptCase(2, { column, prompt: 'ask {{x}}', conversationKey: 'k' }),
    promptCase(3, { column, prompt: 'last', storeAs: 'x' }),
  ];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const store = await openStore({ at: ':memory:' });
  const provider = (name: string) =>
    echoProvider(name, async (request) => {
      if (textOf(request) === 'slow') await held;
      return reply(speak(name, textOf(request)));
    });
  const observers = [
    (event: RunEvent) => {
      if (event.type === 'case-end' && event.index === 3) release();
    },
  ];
  const { run } = await runPlan(
    { name: '', snapshot: {}, cases, settings: { serialize: 'conversation' } },
    hostOf(store, { provider, observers }),
  );
  const rows = (await (await store.openRun(run))?.rows({ after: -1, limit: 9 })) ?? [];
  expect(new Map(rows.map(({ row }) => [row.index as number, row.output]))).toEqual(oracle(cases));
});
