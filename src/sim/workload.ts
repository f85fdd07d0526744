import { SeededRandom } from '../domain/seeded-random.ts';

/** One call of a simulated case. */
export interface SimCall {
  /** Position of its lane. */
  readonly lane: number;
  readonly latencyMs: number;
  readonly input: number;
  readonly output: number;
  readonly maxOutput: number;
  /** Work of the case's own before this call can be made: a tool, a webhook. */
  readonly gapMs: number;
}

/** A chain of calls: each is made when the one before has ended. */
export interface SimCase {
  readonly calls: readonly SimCall[];
  /** Calls it is forecast to make. */
  readonly expected: number;
}

export interface ConversationWork {
  readonly cases: number;
  readonly seed: number;
  readonly agentLane: number;
  readonly clientLane: number;
  /** Spread of the length forecasts; 0 is an oracle, undefined means that nothing is known. */
  readonly forecastSigma?: number;
  readonly maxTurns?: number;
}

const maxOutput = 4096;

/** Conversations across an agent's and a client's lane; every turn is an agent call, sometimes a tool, a client call. */
export function conversations(work: ConversationWork): SimCase[] {
  const random = new SeededRandom(work.seed);
  const cases: SimCase[] = [];
  for (let each = 0; each < work.cases; each += 1) {
    const turns = Math.max(1, Math.min(work.maxTurns ?? 60, Math.round(random.lognormal(7, 0.7))));
    const calls: SimCall[] = [];
    let tool = 0;
    for (let turn = 0; turn < turns; turn += 1) {
      calls.push(callOf(work.agentLane, random.lognormal(4_000, 0.6), turn, 0, random));
      tool = random.next() < 0.4 ? random.lognormal(300, 0.5) : 0;
      calls.push(callOf(work.clientLane, random.lognormal(2_500, 0.6), turn, tool, random));
    }
    const forecast = turns * Math.exp((work.forecastSigma ?? 0) * random.normal());
    cases.push({
      calls,
      expected: work.forecastSigma === undefined ? calls.length : 2 * Math.max(1, Math.round(forecast)),
    });
  }
  return cases;
}

function callOf(lane: number, latencyMs: number, turn: number, gapMs: number, random: SeededRandom): SimCall {
  const output = Math.max(1, Math.min(maxOutput, Math.round(random.lognormal(190, 0.54))));
  return { lane, latencyMs, input: 1_200 + 220 * turn, output, maxOutput, gapMs };
}

/** Independent calls, each followed by a grader's call on another lane. */
export function gradedCalls(work: {
  readonly cases: number;
  readonly seed: number;
  readonly lane: number;
  readonly graderLane: number;
}): SimCase[] {
  const random = new SeededRandom(work.seed);
  return Array.from({ length: work.cases }, () => ({
    calls: [
      callOf(work.lane, random.lognormal(4_000, 0.6), 0, 0, random),
      callOf(work.graderLane, random.lognormal(2_500, 0.6), 0, 0, random),
    ],
    expected: 2,
  }));
}

/** Independent single calls, spread over lanes, made one by one so that a million of them need no memory. */
export function* independentCalls(work: {
  readonly calls: number;
  readonly lanes: number;
  readonly seed: number;
  readonly latencyMs: number;
}): Generator<SimCase> {
  const random = new SeededRandom(work.seed);
  for (let each = 0; each < work.calls; each += 1) {
    const latencyMs = work.latencyMs * (0.5 + random.next());
    yield {
      calls: [{ lane: each % work.lanes, latencyMs, input: 500, output: 100, maxOutput: 1024, gapMs: 0 }],
      expected: 1,
    };
  }
}
