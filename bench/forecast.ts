/**
 * How far forecasts are off, in two ways.
 *
 * By commands alone, on twenty made-up projects with `sim:` models: `run`, `plan`, `run` again with other seeds, and
 * `plan --pilot 5` in a fresh folder (`support/forecast-by-command.ts`). These are the figures without a prefix.
 *
 * With the scheduler alone, on twenty made-up suites with hidden limits, latencies and lengths, five times each. Each is
 * run once (the past) or in a pilot (five cases in total, as `plan --pilot 5` runs them, and five a column beside it); the
 * forecast is made from that; then it is run anew with other draws, and the two are compared. Runs are the real scheduler
 * against simulated servers on the virtual clock, with the learned limits carried over as a store would; the forecast sees
 * events, rows and learned limits only, never the hidden numbers.
 *
 * `--seeds-from 101` takes other projects and suites than those that were looked at while forecasts were worked on.
 */
import { type CaseIndex, caseIndex, caseKey, laneKey } from '../src/domain/ids.ts';
import type { LaneLimits, LearnedLimit } from '../src/domain/lane.ts';
import type { Usage } from '../src/domain/reply.ts';
import type { Row } from '../src/domain/row.ts';
import { SeededRandom } from '../src/domain/seeded-random.ts';
import { forecastRun } from '../src/forecast/forecast-run.ts';
import { type PastCases, pastCases } from '../src/forecast/past-cases.ts';
import type { PlannedCase, PlannedLane } from '../src/forecast/planned-work.ts';
import type { LaneSpec } from '../src/lanes/lane-state.ts';
import { choosePilot } from '../src/plan/choose-pilot.ts';
import type { ServerSpec } from '../src/sim/server-model.ts';
import { simulate } from '../src/sim/simulate.ts';
import type { SimCall, SimCase } from '../src/sim/workload.ts';
import type { Bench } from './main.ts';
import { type CommandTrial, forecastByCommand } from './support/forecast-by-command.ts';

interface HiddenLane {
  readonly key: ReturnType<typeof laneKey>;
  readonly server: ServerSpec;
  readonly limits?: LaneLimits;
  readonly latency: { readonly medianMs: number; readonly sigma: number };
  readonly price: { readonly input: number; readonly output: number };
}

/** A case as nature has it: how many rounds it usually takes, what a call weighs. */
interface HiddenCase {
  readonly name: string;
  readonly family: string;
  readonly own: number;
  readonly round: readonly number[];
  readonly rounds: number;
  readonly spread: number;
  readonly closing: readonly number[];
  readonly input: number;
  readonly output: number;
}

interface Suite {
  readonly name: string;
  readonly lanes: readonly HiddenLane[];
  readonly cases: readonly HiddenCase[];
}

/** What a lane's server allows, and what the user knew to declare about it. */
function hiddenServer(random: SeededRandom): { readonly server: ServerSpec; readonly limits?: LaneLimits } {
  const perMinute = Math.round(random.lognormal(300, 0.6));
  // Windows as vendors have them, and now and then an odd one.
  const windowSeconds = [60, 60, 10, 1, random.between(1, 30)][random.below(5)] ?? 60;
  const requests = { perMinute, capacity: Math.max(2, Math.round((perMinute * windowSeconds) / 60)) };
  const kind = random.next();
  // A model on the user's own machine: no limit but its places, which everybody knows.
  if (kind < 0.15) {
    const places = 4 + random.below(20);
    return { server: { silentQueue: places, headers: 'none' }, limits: { maxConcurrent: places } };
  }
  // No headers, but a limit that stands in the vendor's documentation.
  if (kind < 0.3) return { server: { requests, headers: 'none' }, limits: { rpm: perMinute } };
  // No headers and nobody knows: only a whole past run tells anything.
  if (kind < 0.35) return { server: { requests, headers: 'none' } };
  if (kind < 0.6) return { server: { requests, headers: 'consistent' } };
  const tokens = Math.round(perMinute * random.between(400, 900));
  return {
    server: { requests, tokens: { perMinute: tokens, capacity: tokens / 4, rule: 'real' }, headers: 'consistent' },
  };
}

function hiddenLane(random: SeededRandom, at: number): HiddenLane {
  return {
    key: laneKey(`sim:lane-${at}`),
    ...hiddenServer(random),
    latency: { medianMs: random.lognormal(1500, 0.5), sigma: random.between(0.2, 0.6) },
    price: { input: random.between(0.1, 3), output: random.between(0.5, 12) },
  };
}

function hiddenCase(random: SeededRandom, at: number, lanes: number, talks: boolean): HiddenCase {
  const own = random.below(Math.max(1, lanes - 1));
  const other = (own + 1) % lanes;
  return {
    name: `case ${at}`,
    family: talks ? 'desk' : 'prompt',
    own,
    round: talks ? [own, other] : [own],
    rounds: talks ? Math.max(1, Math.round(random.lognormal(6, 0.3))) : 1,
    spread: talks ? 0.15 : 0,
    closing: random.next() < 0.5 ? [other] : [],
    input: Math.round(random.lognormal(300, 0.5)),
    output: Math.round(random.lognormal(120, 0.5)),
  };
}

function makeSuite(seed: number): Suite {
  const random = new SeededRandom(seed * 7919);
  const lanes = Array.from({ length: 2 + random.below(3) }, (_, at) => hiddenLane(random, at));
  const share = [0, 1, 0.3, 0.7][seed % 4] ?? 0.5;
  const count = 60 + random.below(240);
  const cases = Array.from({ length: count }, (_, at) => hiddenCase(random, at, lanes.length, random.next() < share));
  return { name: `suite ${seed}: ${count} cases, ${Math.round(share * 100)} % conversations`, lanes, cases };
}

/** How one execution goes: rounds, latencies and weights drawn anew. */
function drawn(suite: Suite, one: HiddenCase, random: SeededRandom): SimCase {
  const rounds = Math.max(1, Math.round(random.lognormal(one.rounds, one.spread)));
  const lanes = [...Array.from({ length: rounds }, () => one.round).flat(), ...one.closing];
  const calls = lanes.map((lane): SimCall => {
    const latency = suite.lanes[lane]?.latency ?? { medianMs: 1000, sigma: 0.3 };
    const output = Math.round(random.lognormal(one.output, 0.2));
    return {
      lane,
      latencyMs: random.lognormal(latency.medianMs, latency.sigma),
      gapMs: 0,
      input: one.input,
      output,
      maxOutput: 1024,
    };
  });
  return { calls, expected: one.rounds * one.round.length + one.closing.length };
}

const costOf = (lane: HiddenLane | undefined, usage: Usage): number =>
  (usage.inputTokens ?? 0) * (lane?.price.input ?? 0) + (usage.outputTokens ?? 0) * (lane?.price.output ?? 0);

function rowOf(index: CaseIndex, one: HiddenCase, work: SimCase, suite: Suite): Row {
  const sum = (pick: (call: SimCall) => number): number => work.calls.reduce((total, call) => total + pick(call), 0);
  const cost = sum((call) => costOf(suite.lanes[call.lane], { inputTokens: call.input, outputTokens: call.output }));
  return {
    index,
    key: caseKey(one.name),
    name: one.name,
    kind: one.round.length > 1 ? 'conversation' : 'prompt',
    column: one.own,
    repeat: 0,
    status: 'passed',
    score: 1,
    output: '',
    latencyMs: sum((call) => call.latencyMs),
    queueMs: 0,
    backoffMs: 0,
    attempts: work.calls.length,
    usage: { inputTokens: sum((call) => call.input), outputTokens: sum((call) => call.output) },
    costUsdMicros: cost,
  };
}

interface Execution {
  readonly makespanMs: number;
  readonly costUsdMicros: number;
  readonly past: PastCases;
  readonly learned: readonly (readonly LearnedLimit[])[];
}

const specOf = ({ key, limits }: HiddenLane, learned: readonly LearnedLimit[] = []): LaneSpec => ({
  key,
  ceiling: 512,
  learned,
  ...(limits === undefined ? {} : { limits }),
});

/** One run, observed as any run is. */
function execute(
  suite: Suite,
  cases: readonly HiddenCase[],
  seed: number,
  learned: Execution['learned'] | undefined,
): Execution {
  const random = new SeededRandom(seed);
  const works = cases.map((one) => drawn(suite, one, random));
  const rows = works.map((work, at) => rowOf(caseIndex(at), cases[at] as HiddenCase, work, suite));
  const collector = pastCases((row) => cases[row.index]?.family ?? '');
  const answered = cases.map(() => 0);
  const result = simulate({
    lanes: suite.lanes.map((lane, at) => ({ spec: specOf(lane, learned?.[at]), server: lane.server })),
    cases: works,
    ahead: 64,
    scheduler: { seed, events: true },
    watch(command) {
      if (command.type !== 'event') return;
      const { event } = command;
      collector.observe(event);
      if (event.type !== 'call-end' || event.result !== 'ok') return;
      answered[event.index] = (answered[event.index] ?? 0) + 1;
      const row = rows[event.index];
      if (row === undefined || answered[event.index] !== works[event.index]?.calls.length) return;
      collector.observe({
        type: 'case-end',
        index: event.index,
        at: event.at,
        status: 'passed',
        row,
        completed: 0,
        total: 0,
      });
    },
  });
  return {
    makespanMs: result.makespanMs,
    costUsdMicros: rows.reduce((sum, row) => sum + (row.costUsdMicros ?? 0), 0),
    past: collector.build(),
    learned: suite.lanes.map(({ key }) => result.scheduler.learned(key)),
  };
}

function plan(suite: Suite, learned: Execution['learned']): { cases: PlannedCase[]; lanes: PlannedLane[] } {
  return {
    cases: suite.cases.map((one) => ({
      lane: laneKey(`sim:lane-${one.own}`),
      family: one.family,
      name: one.name,
      guess: [...one.round, ...one.closing].map((at) => ({
        lane: laneKey(`sim:lane-${at}`),
        inputTokens: one.input,
        outputTokens: 256,
      })),
    })),
    lanes: suite.lanes.map((lane, at) => ({
      spec: specOf(lane, learned[at]),
      price: (usage) => costOf(lane, usage),
    })),
  };
}

/** Cases by column, prompts and conversations apart. */
const columnsOf = ({ cases }: Suite): HiddenCase[][] => [
  ...Map.groupBy(cases, ({ family, own }) => `${family} ${own}`).values(),
];

/** What `plan --pilot 5` runs: five of the whole plan. */
const pilotOf = (suite: Suite): HiddenCase[] => choosePilot(columnsOf(suite), 5);

/** A dearer pilot, for comparison: five of each column. */
const widePilotOf = (suite: Suite): HiddenCase[] => columnsOf(suite).flatMap((column) => choosePilot([column], 5));

const off = (expected: number, actual: number): number => Math.abs(expected - actual) / actual;
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

interface Trial {
  readonly timeError: number;
  readonly costError: number;
  readonly pilotTimeError: number;
  readonly pilotCostError: number;
  readonly widePilotTimeError: number;
  readonly widePilotCostError: number;
  /** Whether the actual time lay between low and high. */
  readonly inside: boolean;
  readonly actualMs: number;
  readonly likelyMs: number;
  readonly forecastMs: number;
}

function tryPilot(suite: Suite, cases: readonly HiddenCase[], seed: number): { timeError: number; costError: number } {
  const pilot = execute(suite, cases, seed + 2, undefined);
  const after = execute(suite, suite.cases, seed + 3, pilot.learned);
  const forecast = forecastRun({ ...plan(suite, pilot.learned), past: pilot.past, pastName: 'a pilot', seed });
  return {
    timeError: off(forecast.timeMs.likely, after.makespanMs),
    costError: off(forecast.costUsdMicros?.likely ?? 0, after.costUsdMicros),
  };
}

function tryOnce(suite: Suite, seed: number): Trial {
  const past = execute(suite, suite.cases, seed, undefined);
  const actual = execute(suite, suite.cases, seed + 1, past.learned);
  const begun = performance.now();
  const forecast = forecastRun({ ...plan(suite, past.learned), past: past.past, seed });
  const forecastMs = performance.now() - begun;
  const pilot = tryPilot(suite, pilotOf(suite), seed);
  const widePilot = tryPilot(suite, widePilotOf(suite), seed);
  return {
    timeError: off(forecast.timeMs.likely, actual.makespanMs),
    costError: off(forecast.costUsdMicros?.likely ?? 0, actual.costUsdMicros),
    pilotTimeError: pilot.timeError,
    pilotCostError: pilot.costError,
    widePilotTimeError: widePilot.timeError,
    widePilotCostError: widePilot.costError,
    inside: actual.makespanMs >= forecast.timeMs.low && actual.makespanMs <= forecast.timeMs.high,
    actualMs: actual.makespanMs,
    likelyMs: forecast.timeMs.likely,
    forecastMs,
  };
}

/** One pilot of five is one throw of dice: each suite is tried five times, and every trial counts. */
const [suites, trials] = [20, 5];
const round = (value: number): number => Math.round(value * 1000) / 1000;

type Cases = Record<string, string | number>[];

function bySchedulerAlone(from: number) {
  const all: Trial[] = [];
  const cases: Cases = [];
  for (let at = from; at < from + suites; at++) {
    const suite = makeSuite(at);
    const tried = Array.from({ length: trials }, (_, trial) => tryOnce(suite, (at * trials + trial) * 7_919));
    all.push(...tried);
    const middle = (pick: (trial: Trial) => number): number => round(median(tried.map(pick)));
    cases.push({
      suite: suite.name,
      actualSeconds: middle(({ actualMs }) => actualMs / 1000),
      likelySeconds: middle(({ likelyMs }) => likelyMs / 1000),
      timeError: middle(({ timeError }) => timeError),
      costError: middle(({ costError }) => costError),
      pilotTimeError: middle(({ pilotTimeError }) => pilotTimeError),
      pilotCostError: middle(({ pilotCostError }) => pilotCostError),
    });
  }
  const middle = (pick: (trial: Trial) => number): number => round(median(all.map(pick)));
  return {
    figures: {
      schedulerTrials: all.length,
      schedulerTimeErrorMedian: middle(({ timeError }) => timeError),
      schedulerCostErrorMedian: middle(({ costError }) => costError),
      schedulerPilotTimeErrorMedian: middle(({ pilotTimeError }) => pilotTimeError),
      schedulerPilotCostErrorMedian: middle(({ pilotCostError }) => pilotCostError),
      schedulerPilotPerColumnTimeErrorMedian: middle(({ widePilotTimeError }) => widePilotTimeError),
      schedulerPilotPerColumnCostErrorMedian: middle(({ widePilotCostError }) => widePilotCostError),
      schedulerInsideRange: round(all.filter(({ inside }) => inside).length / all.length),
      forecastMsMedian: middle(({ forecastMs }) => forecastMs),
    },
    cases,
  };
}

const commandErrors = ({ forecast, actual, fromPilot, afterPilot }: CommandTrial) => ({
  timeError: round(off(forecast.timeMs.likely, actual.timeMs)),
  costError: round(off(forecast.costUsdMicros?.likely ?? 0, actual.costUsdMicros)),
  pilotTimeError: round(off(fromPilot.timeMs.likely, afterPilot.timeMs)),
  pilotCostError: round(off(fromPilot.costUsdMicros?.likely ?? 0, afterPilot.costUsdMicros)),
});

async function byCommands(from: number) {
  const tried: CommandTrial[] = [];
  for (let at = from; at < from + suites; at++) tried.push(await forecastByCommand(at));
  const errors = tried.map(commandErrors);
  const inside = tried.filter(
    ({ forecast: { timeMs }, actual }) => actual.timeMs >= timeMs.low && actual.timeMs <= timeMs.high,
  );
  return {
    figures: {
      suites,
      timeErrorMedian: median(errors.map(({ timeError }) => timeError)),
      costErrorMedian: median(errors.map(({ costError }) => costError)),
      pilotTimeErrorMedian: median(errors.map(({ pilotTimeError }) => pilotTimeError)),
      pilotCostErrorMedian: median(errors.map(({ pilotCostError }) => pilotCostError)),
      insideRange: round(inside.length / tried.length),
    },
    cases: tried.map(({ name, actual, forecast }, at) => ({
      suite: name,
      actualSeconds: round(actual.timeMs / 1000),
      likelySeconds: round(forecast.timeMs.likely / 1000),
      ...errors[at],
    })),
  };
}

export const bench: Bench = {
  name: 'forecast',
  async run({ args }) {
    const at = args.indexOf('--seeds-from');
    const from = at === -1 ? 1 : Number(args[at + 1]);
    const alone = bySchedulerAlone(from);
    const commands = await byCommands(from);
    return {
      name: 'forecast',
      figures: { ...commands.figures, ...alone.figures },
      cases: [...commands.cases, ...alone.cases],
    };
  },
};
