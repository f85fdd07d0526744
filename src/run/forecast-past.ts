/**
 * What earlier runs teach a forecast.
 *
 * Job: find the runs of a store that say something about this plan, the newest first, and read them.
 * Not its job: what is learned from a run's events (`forecast/past-cases.ts`).
 *
 * 1. Runs of other prompts push nothing out: a run counts by what it ran, and for each prompt of the plan the newest few
 *    are read.
 * 2. A run that shares a provider only teaches about lanes, never about cases.
 * 3. A large store stays cheap: of a run that teaches nothing only its columns are read, and of so many runs at most.
 */
import type { Column } from '../domain/case.ts';
import type { Row } from '../domain/row.ts';
import { type PastCases, pastCases } from '../forecast/past-cases.ts';
import type { RunRecord, RunStore, Store } from '../store/store.ts';
import { eventsOf } from './read-run.ts';

/** What a plan asks the past about. */
export interface Wanted {
  /** Prompts and specifications, by name. */
  readonly prompts: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

/** Finished runs whose columns are looked at, the newest first. */
const lookedAt = 500;
/** Runs that are read for each prompt, and at most in all. */
const [perPrompt, inAll] = [5, 20];

interface Chosen {
  readonly run: RunStore;
  readonly columns: readonly Column[];
}

/** Decides run by run, from the newest: read it while its prompts, or else its providers, are not well known yet. */
class Choice {
  readonly #wanted: Wanted;
  readonly #prompts = new Map<string, number>();
  readonly #providers = new Set<string>();

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  get complete(): boolean {
    const { prompts, providers } = this.#wanted;
    return [...prompts].every((one) => !this.#lacks(one)) && [...providers].every((one) => this.#providers.has(one));
  }

  takes(columns: readonly Column[]): boolean {
    const shared = columns.filter(({ prompt }) => this.#wanted.prompts.has(prompt));
    const asked = columns.filter(({ provider }) => this.#wanted.providers.has(provider));
    const teaches =
      shared.some(({ prompt }) => this.#lacks(prompt)) || asked.some(({ provider }) => !this.#providers.has(provider));
    if (!teaches) return false;
    for (const prompt of new Set(shared.map((one) => one.prompt)))
      this.#prompts.set(prompt, (this.#prompts.get(prompt) ?? 0) + 1);
    for (const { provider } of asked) this.#providers.add(provider);
    return true;
  }

  #lacks(prompt: string): boolean {
    return (this.#prompts.get(prompt) ?? 0) < perPrompt;
  }
}

async function chooseRuns(store: Store, finished: readonly RunRecord[], wanted: Wanted): Promise<Chosen[]> {
  const choice = new Choice(wanted);
  const chosen: Chosen[] = [];
  for (const { id } of finished.slice(0, lookedAt)) {
    if (choice.complete || chosen.length >= inAll) break;
    const run = await store.openRun(id);
    const columns = (await run?.columns()) ?? [];
    if (run !== undefined && choice.takes(columns)) chosen.push({ run, columns });
  }
  return chosen;
}

/** Reads runs as chains of calls; the newest come last, since the newest are kept. */
async function readRuns(runs: readonly Chosen[], { prompts }: Wanted): Promise<PastCases> {
  let names = new Map<number, string>();
  const collector = pastCases((row: Row) => {
    const prompt = names.get(row.column);
    return prompt !== undefined && prompts.has(prompt) ? prompt : undefined;
  });
  for (const { run, columns } of runs.toReversed()) {
    names = new Map(columns.map(({ position, prompt }) => [position, prompt]));
    for await (const event of eventsOf(run)) collector.observe(event);
  }
  return collector.build();
}

/** What the store's finished runs, or the pilot alone, tell about the plan; undefined where there are none. */
export async function learnPast(store: Store, wanted: Wanted, pilot?: RunRecord): Promise<PastCases | undefined> {
  const finished = pilot === undefined ? (await store.runs()).filter(({ status }) => status === 'complete') : [pilot];
  return finished.length === 0 ? undefined : readRuns(await chooseRuns(store, finished, wanted), wanted);
}
