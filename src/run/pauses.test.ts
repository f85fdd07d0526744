import { describe, expect, it } from 'vitest';
import { echoProvider, reply } from '../../test/support/run-harness.ts';
import { letTimePass, untilKept } from '../../test/support/wire-clock.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import { caseIndex, runId } from '../domain/ids.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { openStore } from '../store/open-store.ts';
import { BatchProcessor } from './batch-processor.ts';

const day = 86_400_000;
const index = caseIndex(0);

/** Conversations of three turns on a virtual clock: every reply takes a second. */
async function rig() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  const store = await openStore({ at: ':memory:' });
  const answered = (): Promise<ReturnType<typeof reply>> =>
    new Promise((resolve) => clock.at(clock.now() + 1_000, () => resolve(reply('Go on.'))));
  const processor = new BatchProcessor({
    store,
    clock,
    specsFolder: '/nowhere',
    provider: (name) => echoProvider(name, answered),
  });
  const scenarios = [{ name: 'talk', variables: {} }];
  const models = { agent: { provider: 'one' }, client: { provider: 'two' } };
  const job = await processor.create({ useTools: false, models, scenarios, maxTurns: 3 });
  const passing = <T>(work: () => Promise<T>): Promise<T> => letTimePass(clock, untilKept(store), work);
  const resultOf = async (batch: string): Promise<ConversationResult> => {
    const [result] = await processor.results(batch);
    if (result === undefined) throw new Error('there is no result');
    return result;
  };
  return { clock, store, processor, batch: job.batch_id, passing, resultOf };
}

describe('how long a conversation took', () => {
  it('is wall time when it is played in one go', async () => {
    const { processor, batch, passing, resultOf } = await rig();
    await passing(() => processor.run(batch));
    const result = await resultOf(batch);
    expect(result).toMatchObject({ status: 'completed', total_turns: 3, duration_seconds: 6 });
    expect(Date.parse(result.end_time) - Date.parse(result.start_time)).toBe(6_000);
  });

  it('of a fork is that of the turns it kept, as recorded, and of those it played; so is that of a fork of it', async () => {
    const { clock, processor, batch, passing, resultOf } = await rig();
    await passing(() => processor.run(batch));
    clock.advanceTo(clock.now() + day);
    const fork = await passing(() => processor.fork(batch, { index, after: 1, tries: 1 }));
    const forked = await resultOf(fork.batch_id);
    expect(forked).toMatchObject({ total_turns: 3, duration_seconds: 6, working_seconds: 6 });
    // Kept turns keep their times, new ones have their own.
    const original = await resultOf(batch);
    const days = (result: ConversationResult) =>
      result.conversation_history.map(({ timestamp }) => timestamp.slice(8, 10));
    expect(forked.conversation_history.slice(0, 2)).toEqual(original.conversation_history.slice(0, 2));
    expect(days(forked)).toEqual(['05', '05', '06', '06', '06', '06']);

    clock.advanceTo(clock.now() + day);
    const again = await passing(() => processor.fork(fork.batch_id, { index, after: 2, tries: 1 }));
    const twice = await resultOf(again.batch_id);
    expect(twice.duration_seconds).toBe(6);
    expect(days(twice)).toEqual(['05', '05', '06', '06', '07', '07']);
    // What happened after the turns that are kept does not count.
    const early = await passing(() => processor.fork(again.batch_id, { index, after: 1, tries: 1 }));
    expect((await resultOf(early.batch_id)).duration_seconds).toBe(6);
  });

  it('leaves out the time in which a stopped run lay still, and a replay tells the same', async () => {
    const { clock, store, processor, batch, passing, resultOf } = await rig();
    const stop = new AbortController();
    clock.at(clock.now() + 2_500, () => stop.abort());
    await passing(() => processor.run(batch, { signal: stop.signal }));
    clock.advanceTo(clock.now() + day);
    await passing(() => processor.resume(batch));
    const result = await resultOf(batch);
    expect(result).toMatchObject({ status: 'completed', total_turns: 3, duration_seconds: 6 });
    const replayed = await processor.replay(batch, 0);
    expect(replayed.kind === 'same' && replayed.row.detail).toEqual(result);
    const steps = (await (await store.openRun(runId(batch)))?.steps(index)) ?? [];
    expect(steps.filter(({ path }) => path.startsWith('pause/'))).toHaveLength(1);
  });
});
