/** Kills real processes at chosen or random instants and looks at what is left: store, ledger and, after a resume, the table. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runId } from '../../src/domain/ids.ts';
import type { Json } from '../../src/domain/json.ts';
import { resumeRun } from '../../src/run/run-plan.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { StepRecord, Store } from '../../src/store/store.ts';
import { type FaultServer, startFaultServer } from '../../src/testing/index.ts';
import { httpProvider } from './http-provider.ts';
import { hostOf, mixedPlan, short, tableOf } from './run-harness.ts';

export interface CrashOrder {
  readonly at: string;
  readonly url: string;
  readonly run: string;
  readonly cases: number;
  readonly serialize: 'global' | 'conversation';
  readonly resume: boolean;
  readonly kill?: { readonly commit: number; readonly when: 'before' | 'after' };
}

/** Where a process is killed: at a commit of its own, or from outside after so many milliseconds. */
export type KillPoint = { readonly commit: number; readonly when: 'before' | 'after' } | { readonly afterMs: number };

export interface CrashPlan {
  readonly cases: number;
  readonly serialize: 'global' | 'conversation';
  /** One for the first process, each further one for a resume. */
  readonly kills: readonly KillPoint[];
}

/** What a kill left behind; every list must be empty, and the table must be the uninterrupted one. */
export interface CrashReport {
  readonly lostRows: readonly number[];
  /** Committed answers that were asked for again. */
  readonly paidAgain: readonly string[];
  /** Charged twice without a mark in the journal. */
  readonly unmarked: readonly string[];
  /** Marked as maybe paid again. */
  readonly marked: number;
  /** Intents without an answer, over all kills: the most that may have been paid again. */
  readonly inFlight: number;
  readonly sameTable: boolean;
  readonly killed: number;
}

const childProgram = join(import.meta.dirname, 'crash-child.ts');

/** Runs the child to its end or its death; gives back which rows it had told of, and its commits when it lived. */
function runChild(order: CrashOrder, afterMs?: number): Promise<{ rows: number[]; commits: number | undefined }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', childProgram, JSON.stringify(order)],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NODE_COMPILE_CACHE: join(order.at, '../compiled') },
      },
    );
    let said = '';
    let complained = '';
    child.stdout.on('data', (piece) => {
      said += String(piece);
    });
    child.stderr.on('data', (piece) => {
      complained += String(piece);
    });
    const timer = afterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), afterMs);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal !== 'SIGKILL' && code !== 0) reject(new Error(`the child failed: ${complained}`));
      const commits = /commits (\d+)/.exec(said)?.[1];
      resolve({
        rows: [...said.matchAll(/^row (\d+)$/gm)].map((match) => Number(match[1])),
        commits: commits === undefined ? undefined : Number(commits),
      });
    });
  });
}

const stepsOf = async (store: Store, run: string, cases: number): Promise<StepRecord[]> => {
  const stored = await store.openRun(runId(run));
  const steps: StepRecord[] = [];
  for (let index = 0; index < cases; index++) steps.push(...((await stored?.steps(index as never)) ?? []));
  return steps;
};

export class CrashRig implements AsyncDisposable {
  readonly #server: FaultServer;
  readonly #home = mkdtempSync(join(tmpdir(), 'parlane-crash-'));
  readonly #tables = new Map<string, Json[]>();
  #next = 0;

  private constructor(server: FaultServer) {
    this.#server = server;
  }

  static async start(): Promise<CrashRig> {
    // Words that depend on the request alone: what is asked again is answered the same, as a recorded answer would be.
    return new CrashRig(
      await startFaultServer({ replies: (request) => `${request.model}:${short(JSON.stringify(request.body))}` }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    rmSync(this.#home, { recursive: true, force: true });
  }

  #order(plan: CrashPlan): CrashOrder {
    const run = `r${this.#next++}`;
    return {
      at: join(this.#home, run),
      url: this.#server.url,
      run,
      cases: plan.cases,
      serialize: plan.serialize,
      resume: false,
    };
  }

  /** Runs without a kill; the table is what all others are compared with. Gives back the number of commits. */
  async baseline(plan: Omit<CrashPlan, 'kills'>): Promise<number> {
    const order = this.#order({ ...plan, kills: [] });
    const { commits } = await runChild(order);
    const store = await openStore({ at: order.at });
    const run = await store.openRun(runId(order.run));
    if (run === undefined || commits === undefined) throw new Error('the baseline did not finish');
    this.#tables.set(`${plan.cases} ${plan.serialize}`, await tableOf(run));
    await store.close();
    rmSync(order.at, { recursive: true });
    return commits;
  }

  async crash(plan: CrashPlan): Promise<CrashReport> {
    const order = this.#order(plan);
    const sum = { lostRows: [] as number[], paidAgain: [] as string[], inFlight: 0, killed: 0 };
    for (const [attempt, kill] of plan.kills.entries()) {
      const { rows, commits } = await runChild(
        { ...order, resume: attempt > 0 && (await this.#exists(order)), ...('commit' in kill ? { kill } : {}) },
        'afterMs' in kill ? kill.afterMs : undefined,
      );
      if (commits === undefined) sum.killed++;
      await this.#inspect(order, rows, sum);
    }
    return this.#conclude(order, sum);
  }

  /** How often each step of a run was asked for so far. */
  #asked(run: string): Map<string, number> {
    const asked = new Map<string, number>();
    for (const { idempotencyKey } of this.#server.ledger) {
      if (idempotencyKey?.startsWith(`${run}/`)) asked.set(idempotencyKey, (asked.get(idempotencyKey) ?? 0) + 1);
    }
    return asked;
  }

  readonly #committed = new Map<string, Map<string, number>>();

  async #exists(order: CrashOrder): Promise<boolean> {
    const store = await openStore({ at: order.at });
    const run = await store.openRun(runId(order.run));
    await store.close();
    return run !== undefined;
  }

  async #inspect(
    order: CrashOrder,
    told: readonly number[],
    sum: { lostRows: number[]; inFlight: number },
  ): Promise<void> {
    const store = await openStore({ at: order.at });
    const run = await store.openRun(runId(order.run));
    const stored = new Set((await run?.rows({ after: -1, limit: 10_000 }))?.map(({ row }) => row.index as number));
    sum.lostRows.push(...told.filter((index) => !stored.has(index)));
    const steps = await stepsOf(store, order.run, order.cases);
    sum.inFlight += steps.filter(({ answer }) => answer === undefined).length;
    const asked = this.#asked(order.run);
    const committed = this.#committed.get(order.run) ?? new Map<string, number>();
    for (const { path, index, answer } of steps) {
      const key = `${order.run}/${index}/${path}`;
      if (answer !== undefined && !committed.has(key)) committed.set(key, asked.get(key) ?? 0);
    }
    this.#committed.set(order.run, committed);
    await store.close();
  }

  async #conclude(
    order: CrashOrder,
    sum: { lostRows: number[]; inFlight: number; killed: number },
  ): Promise<CrashReport> {
    const store = await openStore({ at: order.at });
    const host = hostOf(store, { provider: (name) => httpProvider(name, order.url) });
    const cases = mixedPlan(order.cases);
    const exists = (await store.openRun(runId(order.run))) !== undefined;
    if (exists) await resumeRun(runId(order.run), host, cases);
    const run = await store.openRun(runId(order.run));
    const table = run === undefined ? undefined : await tableOf(run);
    const steps = await stepsOf(store, order.run, order.cases);
    await store.close();
    rmSync(order.at, { recursive: true });
    const marked = new Set(
      steps
        .filter(({ answer }) => answer?.billing === 'maybe-again')
        .map(({ index, path }) => `${order.run}/${index}/${path}`),
    );
    const asked = this.#asked(order.run);
    const committed = this.#committed.get(order.run) ?? new Map<string, number>();
    this.#committed.delete(order.run);
    return {
      ...sum,
      paidAgain: [...committed].filter(([key, times]) => (asked.get(key) ?? 0) > times).map(([key]) => key),
      unmarked: [...asked].filter(([key, times]) => times > 1 && !marked.has(key)).map(([key]) => key),
      marked: marked.size,
      sameTable:
        !exists || JSON.stringify(table) === JSON.stringify(this.#tables.get(`${order.cases} ${order.serialize}`)),
    };
  }
}

/** Runs jobs a few at a time. */
export async function inParallel<T>(jobs: readonly (() => Promise<T>)[], width: number): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < jobs.length; at = next++) results[at] = await (jobs[at] as () => Promise<T>)();
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
