/** What the driver itself costs: no-op calls through ten lanes on the real clock. */
import { caseIndex, laneKey } from '../src/domain/ids.ts';
import type { Reply } from '../src/domain/reply.ts';
import { realClock } from '../src/platform/clock.ts';
import { Lanes } from '../src/run/lanes.ts';

const calls = 50_000;
const laneCount = 10;
const rounds = 5;

const reply: Reply = {
  kind: 'reply',
  text: '',
  output: '',
  toolCalls: [],
  finishReason: 'stop',
  status: 200,
  raw: '',
  flags: [],
  cached: false,
};

async function once(): Promise<number> {
  const lanes = new Lanes({ clock: realClock });
  const keys = Array.from({ length: laneCount }, (_, lane) => laneKey(`lane-${lane}`));
  for (const key of keys) lanes.openLane({ key });
  const from = performance.now();
  const results: Promise<unknown>[] = [];
  for (let each = 0; each < calls; each += 1) {
    results.push(
      lanes.submit({
        lane: keys[each % laneCount] as (typeof keys)[number],
        index: caseIndex(each),
        path: 'call',
        estimate: { input: 10, output: 10 },
        expectedCalls: 1,
        made: 0,
        perform: async () => reply,
      }),
    );
  }
  await Promise.all(results);
  const seconds = (performance.now() - from) / 1000;
  lanes.shutdown();
  return calls / seconds;
}

export const bench = {
  name: 'driver',
  async run() {
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) rates.push(Math.round(await once()));
    const figures = {
      calls,
      lanes: laneCount,
      callsPerSecond: Math.max(...rates),
      callsPerSecondMedian: rates.toSorted((a, b) => a - b)[2],
    };
    return { name: 'driver', figures, cases: rates.map((callsPerSecond, round) => ({ round, callsPerSecond })) };
  },
};
