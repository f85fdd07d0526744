import { describe, expect, it } from 'vitest';
import { type CaseIndex, caseIndex, caseKey, laneKey } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { type ForecastInput, forecastRun } from './forecast-run.ts';
import { chainsFromMeans, nameKey, pastCases } from './past-cases.ts';
import type { PastLane } from './past-lanes.ts';
import type { PlannedCase, PlannedLane } from './planned-work.ts';
import { whatIf } from './what-if.ts';

const [fast, strict, judge] = [laneKey('sim:fast'), laneKey('sim:strict:abcdef12'), laneKey('sim:judge')];
const lane = (key: PlannedLane['spec']['key'], more: Partial<PlannedLane['spec']> = {}, price = 1): PlannedLane => ({
  spec: { key, ...more },
  latency: { medianMs: 500, sigma: 0.2 },
  price: ({ inputTokens = 0, outputTokens = 0 }) => (inputTokens + outputTokens) * price,
});
const prompts = (key: PlannedCase['lane'], count: number): PlannedCase[] =>
  Array.from({ length: count }, (_, at) => ({
    lane: key,
    family: 'p',
    name: `case ${at}`,
    guess: [{ lane: key, inputTokens: 100, outputTokens: 50 }],
  }));
const input: ForecastInput = {
  cases: [...prompts(fast, 40), ...prompts(strict, 60)],
  lanes: [lane(fast), lane(strict, { limits: { rpm: 60 } }), lane(judge)],
};

const row = (index: CaseIndex, more: Partial<Row> = {}): Row => ({
  index,
  key: caseKey('k'),
  name: 'talk',
  kind: 'conversation',
  column: 0,
  repeat: 0,
  status: 'passed',
  score: 1,
  output: '',
  latencyMs: 0,
  queueMs: 0,
  backoffMs: 0,
  attempts: 1,
  usage: { inputTokens: 300, outputTokens: 60 },
  costUsdMicros: 900,
  ...more,
});

describe('a forecast', () => {
  it('says what binds each lane, who decides, and what it costs', () => {
    const forecast = forecastRun(input);
    expect(forecast.cases).toBe(100);
    expect(forecast.decidedBy).toBe(strict);
    expect(forecast.lanes.map(({ lane: key, cases, boundBy }) => [key, cases, boundBy])).toEqual([
      [fast, 40, 'answer time'],
      [strict, 60, '60 requests/min'],
    ]);
    // 60 calls at one a second: the last starts after 59 seconds.
    expect(forecast.timeMs.likely).toBeGreaterThan(58_000);
    expect(forecast.timeMs.likely).toBeLessThan(62_000);
    expect(forecast.costUsdMicros).toEqual({ low: 15_000, likely: 15_000, high: 15_000 });
    expect(forecast.basis).toBe('no past runs: lengths and times are guessed');
  });

  it('lets a conversation be longer or shorter than guessed, and closes it once whatever its length', () => {
    const turns = Array.from({ length: 12 }, (_, at) => ({
      lane: at % 2 === 0 ? fast : strict,
      inputTokens: 100,
      outputTokens: 20,
    }));
    const closing = { lane: judge, inputTokens: 500, outputTokens: 80, closing: true as const };
    const talks = Array.from({ length: 10 }, (_, at) => ({
      lane: fast,
      family: 'desk',
      name: `talk ${at}`,
      guess: [...turns, closing],
    }));
    const forecast = forecastRun({ cases: talks, lanes: [lane(fast), lane(strict), lane(judge)] });
    const callsOf = (key: string) => forecast.lanes.find(({ lane: each }) => each === key)?.calls;
    expect(callsOf(judge)).toEqual({ low: 10, likely: 10, high: 10 });
    expect(callsOf(fast)?.low).toBeLessThan(60);
    expect(callsOf(fast)?.high).toBeGreaterThan(60);
    expect(callsOf(strict)?.high).toBeGreaterThan(60);
  });

  it('is the same for the same seed, and orders low, likely and high', () => {
    expect(forecastRun({ ...input, seed: 4 })).toEqual(forecastRun({ ...input, seed: 4 }));
    const { low, likely, high } = forecastRun(input).lanes[0]?.timeMs ?? { low: 0, likely: 0, high: 0 };
    expect(low).toBeLessThan(likely);
    expect(likely).toBeLessThan(high);
  });

  it('never calls a run with an unknown price cheap', () => {
    const { price: _price, ...unpriced } = lane(fast);
    const forecast = forecastRun({ ...input, lanes: [unpriced, lane(strict, { limits: { rpm: 60 } })] });
    expect(forecast.costUsdMicros).toBeNull();
    expect(forecast.lanes.find(({ lane: key }) => key === strict)?.costUsdMicros).not.toBeNull();
  });

  it('answers what-if: another limit, another lane that decides', () => {
    const faster = forecastRun({ ...input, lanes: whatIf(input.lanes, 'sim:strict.rpm=6000') });
    expect(faster.timeMs.likely).toBeLessThan(5_000);
    expect(() => whatIf(input.lanes, 'sim:strict.speed=3')).toThrow('rpm, tpm');
    expect(() => whatIf(input.lanes, 'nobody.rpm=3')).toThrow('sim:fast');
  });

  it('keeps to a learned limit as it keeps to a declared one', () => {
    const learned = [{ resource: 'requests' as const, ratePerMinute: 60, capacity: 1, windowMs: 1000 }];
    const forecast = forecastRun({ ...input, lanes: [lane(fast), lane(strict, { learned })] });
    expect(forecast.timeMs.likely).toBeGreaterThan(55_000);
    expect(forecast.timeMs.likely).toBeLessThan(75_000);
  });

  it('goes by how the same case went before, and moves it to the models planned now', () => {
    const chain = {
      calls: [fast, judge, fast, judge].map((key) => ({ lane: key, gapMs: 0, latencyMs: 1000 })),
      inputTokens: 100,
      outputTokens: 20,
      costUsdMicros: 700,
    };
    const past = {
      byName: new Map([[nameKey('desk', 'talk'), [chain]]]),
      byFamily: new Map([['desk', [chain]]]),
      seen: 1,
    };
    const guess = [strict, judge].map((key) => ({ lane: key, inputTokens: 10, outputTokens: 10 }));
    const planned = { lane: strict, family: 'desk', name: 'talk', guess };
    const forecast = forecastRun({ ...input, cases: [planned], past });
    expect(forecast.lanes.map(({ lane: key, calls }) => [key, calls.likely])).toEqual([
      [strict, 2],
      [judge, 2],
    ]);
    // On other models the price list counts: 4 calls of 100 + 20 tokens.
    expect(forecast.costUsdMicros?.likely).toBe(480);
    const same = forecastRun({ ...input, cases: [{ ...planned, lane: fast, guess: [] }], past });
    expect(same.costUsdMicros?.high).toBe(700);
    expect(forecast.basis).toBe('from 1 case of past runs');
    expect(forecast.lanes[1]?.boundBy).toMatch(/turns|follows/);
  });

  it("weighs each call by what the provider counted for it, not by the case's average", () => {
    const calls = [
      { lane: fast, gapMs: 0, latencyMs: 1000, usage: { inputTokens: 900, outputTokens: 10 } },
      { lane: judge, gapMs: 0, latencyMs: 1000, usage: { inputTokens: 100, outputTokens: 10 } },
    ];
    const chain = { calls, inputTokens: 500, outputTokens: 10, costUsdMicros: null };
    const past = { byName: new Map(), byFamily: new Map([['desk', [chain]]]), seen: 1 };
    const planned = { lane: fast, family: 'desk', name: 'talk', guess: [] };
    const { lanes } = forecastRun({ cases: [planned], lanes: [lane(fast), lane(judge)], past });
    expect(lanes.map(({ tokens }) => tokens.likely)).toEqual([910, 110]);
  });

  describe('of cases whose graders are others than before', () => {
    const call = { gapMs: 0, latencyMs: 1000, usage: { inputTokens: 100, outputTokens: 20 } };
    const body = [fast, strict, fast].map((key) => ({ ...call, lane: key }));
    const graded = (key: typeof fast) => ({ ...call, lane: key, closing: true as const });
    const guess = [fast, strict].map((key) => ({ lane: key, inputTokens: 10, outputTokens: 10 }));
    const grader = (key: typeof fast) => ({ lane: key, inputTokens: 500, outputTokens: 80, closing: true as const });
    const callsOf = (past: readonly (typeof body)[number][], closing: readonly ReturnType<typeof grader>[]) => {
      const chain = { calls: past, inputTokens: 100, outputTokens: 20, costUsdMicros: 120 * past.length };
      const planned = { lane: fast, family: 'desk', name: 'talk', guess: [...guess, ...closing] };
      const { lanes, costUsdMicros } = forecastRun({
        cases: [planned],
        lanes: [lane(fast), lane(strict), lane(judge)],
        past: {
          byName: new Map([[nameKey('desk', 'talk'), [chain]]]),
          byFamily: new Map([['desk', [chain]]]),
          seen: 1,
        },
      });
      return [...lanes.map(({ calls }) => calls.likely), costUsdMicros?.likely];
    };

    it('has the calls of a grader that there was not', () => {
      expect(callsOf(body, [grader(judge)])).toEqual([2, 1, 1, 3 * 120 + 580]);
      expect(callsOf([...body, graded(judge)], [grader(judge), grader(judge)])).toEqual([2, 1, 2, 4 * 120 + 580]);
    });

    it('has none of a grader that there is no more', () => {
      expect(callsOf([...body, graded(judge)], [])).toEqual([2, 1, 3 * 120]);
    });

    it('moves them to the grader that there is now', () => {
      expect(callsOf([...body, graded(laneKey('sim:old'))], [grader(judge)])).toEqual([2, 1, 1, 4 * 120]);
    });

    it('tells a grader from an agent on the same lane', () => {
      expect(callsOf(body, [grader(fast)])).toEqual([3, 1, 3 * 120 + 580]);
      expect(callsOf([...body, graded(fast)], [grader(fast)])).toEqual([3, 1, 4 * 120]);
    });
  });

  it('leaves a lane free that costs nothing, whatever the others cost', () => {
    const calls = [fast, judge].map((key) => ({ lane: key, gapMs: 0, latencyMs: 1000 }));
    const chain = { calls, inputTokens: 100, outputTokens: 20, costUsdMicros: 700 };
    const past = { byName: new Map([[nameKey('p', 'case 0'), [chain]]]), byFamily: new Map([['p', [chain]]]), seen: 1 };
    const { lanes } = forecastRun({ cases: prompts(fast, 1), lanes: [lane(fast), lane(judge, {}, 0)], past });
    expect(lanes.map(({ costUsdMicros }) => costUsdMicros?.high)).toEqual([700, 0]);
  });

  it('does not take the price of another model for one that is unknown', () => {
    const calls = [{ lane: fast, gapMs: 0, latencyMs: 1000 }];
    const chain = { calls, inputTokens: 100, outputTokens: 20, costUsdMicros: 700 };
    const past = { byName: new Map(), byFamily: new Map([['p', [chain]]]), seen: 1 };
    const { price: _price, ...unpriced } = lane(strict);
    expect(forecastRun({ cases: prompts(strict, 1), lanes: [unpriced], past }).costUsdMicros).toBeNull();
  });

  it('lets requests fail as often as they did, and a silent server reject as it did', () => {
    const call = { lane: fast, gapMs: 0, latencyMs: 1000 };
    const chain = { calls: [call], inputTokens: 10, outputTokens: 10, costUsdMicros: null };
    const past = { byName: new Map(), byFamily: new Map([['p', [chain]]]), seen: 1 };
    const plan = { cases: prompts(fast, 60), lanes: [lane(fast, { limits: { maxConcurrent: 4 } })] };
    const likely = (seen?: PastLane): number =>
      forecastRun({ ...plan, past: { ...past, ...(seen === undefined ? {} : { lanes: new Map([[fast, seen]]) }) } })
        .timeMs.likely;
    expect(likely({ faultShare: 0.3, faultMs: 1000 })).toBeGreaterThan(1.3 * likely());
    const requests = { perMinute: 60, capacity: 5 };
    expect(likely({ faultShare: 0, faultMs: 0, requests })).toBeGreaterThan(50_000);
  });

  it('expects of a lane that is still cautious that it finds out what its server allows', () => {
    const cautious = { resource: 'requests' as const, ratePerMinute: 60, capacity: 2, windowMs: 2000 };
    const time = (more: object): number =>
      forecastRun({ cases: prompts(fast, 60), lanes: [lane(fast, { learned: [{ ...cautious, ...more }] })] }).timeMs
        .likely;
    expect(time({ mostPerMinute: 120 })).toBeLessThan(0.75 * time({}));
  });
});

describe('past cases', () => {
  const call = (id: number, key: typeof fast, queuedAt: number, startedAt: number, endedAt: number): RunEvent[] => {
    const common = { lane: key, call: id, index: caseIndex(0) };
    return [
      { type: 'call-queue', ...common, at: queuedAt },
      { type: 'call-start', ...common, at: startedAt, attempt: 1 },
      { type: 'call-end', ...common, at: endedAt, result: 'ok' },
    ];
  };
  const end = (more: Partial<Row> = {}): RunEvent => {
    const ended = row(caseIndex(0), more);
    return { type: 'case-end', index: ended.index, at: 9000, status: ended.status, row: ended, completed: 1, total: 1 };
  };

  it('hold the provider time and the case own, never the queue', () => {
    const collector = pastCases(() => 'desk');
    for (const event of [...call(1, fast, 0, 500, 1500), ...call(2, judge, 1700, 4000, 4300), end()])
      collector.observe(event);
    const chain = collector.build().byName.get(nameKey('desk', 'talk'))?.[0];
    expect(chain?.calls).toEqual([
      { lane: fast, gapMs: 0, latencyMs: 1000 },
      { lane: judge, gapMs: 200, latencyMs: 300 },
    ]);
    expect(chain).toMatchObject({ inputTokens: 150, outputTokens: 30, costUsdMicros: 900 });
  });

  it('know which calls graded a case, and learn nothing from one that was graded only', () => {
    const collector = pastCases(() => 'desk');
    const grading = call(2, judge, 1500, 1500, 1800).map((event) =>
      event.type === 'call-queue' ? { ...event, closing: true as const } : event,
    );
    for (const event of [...call(1, fast, 0, 0, 1500), ...grading, end(), ...grading, end()]) collector.observe(event);
    const { byFamily, seen } = collector.build();
    expect(seen).toBe(1);
    expect(byFamily.get('desk')?.[0]?.calls.map(({ closing }) => closing)).toEqual([undefined, true]);
  });

  it('learn nothing from errors', () => {
    const collector = pastCases(() => 'desk');
    for (const event of [...call(1, fast, 0, 0, 100), end({ status: 'error' })]) collector.observe(event);
    expect(collector.build().seen).toBe(0);
  });

  it('can be made from what a store keeps when the events are gone', () => {
    const mean = {
      family: 'desk',
      name: 'talk',
      calls: 4.2,
      inputTokens: 400,
      outputTokens: 80,
      workingMs: 4000,
      seen: 3,
    };
    const past = chainsFromMeans([mean], () => [fast, judge]);
    const chain = past.byFamily.get('desk')?.[0];
    expect(chain?.calls.map(({ lane: key, latencyMs }) => [key, latencyMs])).toEqual([
      [fast, 1000],
      [judge, 1000],
      [fast, 1000],
      [judge, 1000],
    ]);
    expect(past.seen).toBe(3);
  });
});
