/** A project's cases as a run: all of them, or the few of a pilot. */
import type { Case } from '../domain/case.ts';
import type { CaseIndex } from '../domain/ids.ts';
import { choosePilot } from '../plan/choose-pilot.ts';
import { createCoalescer } from '../providers/coalesce.ts';
import type { CaseSource } from '../run/plan-intake.ts';
import { findRun, type RunHost, type RunOutcome, runPlan } from '../run/run-plan.ts';
import type { RunProject } from './open-run-project.ts';
import { hostOn, type Stage } from './play-watched.ts';

export interface PlayOptions {
  /** Identical calls in flight are made once. */
  readonly coalesce?: boolean;
  /** Result files that were asked for; kept with the run for whoever resumes it. */
  readonly output?: readonly string[];
}

export async function playProject(
  { project, store }: RunProject,
  cases: CaseSource,
  stage: Stage,
  { coalesce = false, output }: PlayOptions = {},
): Promise<RunOutcome> {
  const settings = { ...project.settings, ...(output === undefined ? {} : { outputs: output }) };
  const request = { name: project.name, snapshot: project.snapshot, cases, settings };
  // A list tells its own length and how its cases depend on each other; a stream does not.
  const known = Array.isArray(cases) ? {} : { planned: project.planned, traits: project.traits };
  const lanes: RunHost['lanes'] = ({ onEvent }) => project.lanes(onEvent);
  const host = hostOn(stage, store, { ...project, lanes });
  const startedAt = stage.clock.now();
  const outcome = await runPlan({ ...request, ...known }, coalesce ? { ...host, coalescer: createCoalescer() } : host);
  const message = await project.finished(await findRun(store, outcome.run), stage.clock.now() - startedAt);
  if (message !== undefined)
    for (const observe of stage.observers) observe({ type: 'warning', at: stage.clock.now(), message });
  return outcome;
}

/** The cases of a pilot: so many of the whole plan. Places are held, not cases, since a plan may be long. */
export async function pilotCases({ project }: RunProject, count: number): Promise<Case[]> {
  const columns = new Map<number, CaseIndex[]>();
  for await (const { index, column } of project.cases()) {
    const known = columns.get(column.position);
    if (known === undefined) columns.set(column.position, [index]);
    else known.push(index);
  }
  // In the plan's order: the order of work puts what is longest first, which would speak for nobody else.
  const chosen = new Set(
    choosePilot(
      [...columns.values()].map((one) => one.sort((a, b) => a - b)),
      count,
    ),
  );
  const cases: Case[] = [];
  for await (const one of project.cases()) if (chosen.has(one.index)) cases.push(one);
  return cases;
}
