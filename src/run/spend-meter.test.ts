import { expect, it } from 'vitest';
import type { RunEvent } from '../domain/run-event.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { SpendMeter } from './spend-meter.ts';
import type { StepEnd } from './step.ts';

const answered = (costUsdMicros: number | null, replayed = false): StepEnd => ({
  kind: 'model',
  replayed,
  answer: {
    path: 'prompt',
    send: 1,
    kind: 'model',
    requestHash: '',
    value: null,
    costUsdMicros,
    times: { startedAt: 0, endedAt: 0, queueMs: 0, backoffMs: 0, latencyMs: 0, attempts: 1 },
    billing: 'once',
  },
});

const metered = () => {
  const clock = new VirtualClock();
  const told: RunEvent[] = [];
  const meter = new SpendMeter(clock, { usdMicros: 5, unknown: 0 }, (event) => told.push(event));
  return { clock, told, meter };
};

it('tells the first paid answer at once, and the sum of all that follow a few times a second', () => {
  const { clock, told, meter } = metered();
  const start = clock.now();
  for (let ms = 0; ms < 1_000; ms += 10) {
    clock.advanceTo(start + ms);
    meter.add(answered(2));
  }
  clock.advanceTo(start + 2_000);
  expect(told.map(({ at }) => at - start)).toEqual([0, 250, 500, 750, 1_000]);
  expect(told.at(0)).toMatchObject({ type: 'spend', usdMicros: 7, unknown: 0 });
  expect(told.at(-1)).toMatchObject({ type: 'spend', usdMicros: 205, unknown: 0 });
});

it('counts what is paid now: nothing replayed, nothing free, and unknown prices apart', () => {
  const { clock, told, meter } = metered();
  meter.add(answered(7, true));
  meter.add(answered(0));
  expect(told).toEqual([]);
  meter.add(answered(null));
  meter.add(answered(1));
  meter.stop();
  clock.advanceTo(clock.now() + 1_000);
  expect(told).toEqual([{ type: 'spend', at: expect.any(Number), usdMicros: 5, unknown: 1 }]);
  expect(meter.paid).toEqual({ usdMicros: 6, unknown: 1 });
});
