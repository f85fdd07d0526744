/** What a simulated run came to: how close to the physical limit, what decided it, and where the time went. */
import type { TimeSpent } from '../domain/run-efficiency.ts';
import { LaneTimes } from '../lanes/lane-times.ts';
import { lowerBound } from './bound.ts';
import { type SimulationOptions, simulate } from './simulate.ts';
import type { SimCase } from './workload.ts';

export interface SimulationReport {
  readonly makespanMs: number;
  readonly boundMs: number;
  /** Bound / makespan. */
  readonly efficiency: number;
  readonly bindingTerm: string;
  readonly rejections: number;
  readonly calls: number;
  /** Of the lane that decides, or of the first where a single case does. */
  readonly timeMs: TimeSpent;
}

export function simulationReport(
  options: SimulationOptions & { readonly cases: readonly SimCase[] },
): SimulationReport {
  const names = options.lanes.map((lane) => lane.spec.key as string);
  const bound = lowerBound(
    options.cases,
    options.lanes.map((lane) => lane.server),
    names,
  );
  const deciding = Math.max(
    0,
    names.findIndex((name) => bound.term.startsWith(`${name} `)),
  );
  const times = new LaneTimes(0);
  const result = simulate({
    ...options,
    settled: (scheduler, now) => {
      times.until(now);
      times.see(scheduler.standing, now);
    },
  });
  const { makespanMs, rejections, calls } = result;
  if (result.ends.ok !== calls) throw new Error(`not every call was answered: ${JSON.stringify(result.ends)}`);
  return {
    makespanMs,
    boundMs: bound.ms,
    efficiency: bound.ms / makespanMs,
    bindingTerm: bound.term,
    rejections,
    calls,
    timeMs: spentBy(times, deciding, makespanMs),
  };
}

function spentBy(times: LaneTimes, lane: number, makespanMs: number): TimeSpent {
  times.until(makespanMs);
  const told = [...times.told()][lane];
  if (told === undefined) throw new Error(`there is no lane ${lane}`);
  return told[1];
}
