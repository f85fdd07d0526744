/** Kills batches of conversations with SIGKILL and resumes them: what is left must be what would have been. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caseIndex } from '../../src/domain/ids.ts';
import { openStore } from '../../src/store/open-store.ts';
import { inParallel } from '../support/crash-rig.ts';
import { type CrashOrder, crashBatch, crashProcessor, transcriptsOf, writeWorld } from './crash-world.ts';

export interface CrashReport {
  readonly killed: boolean;
  /** Committed tool answers whose tool was called again after the kill. */
  readonly calledAgain: readonly string[];
  readonly sameTranscripts: boolean;
  /** The steps that were in flight when it died. */
  readonly inFlight: readonly string[];
}

export class ConversationCrashRig {
  readonly #home = mkdtempSync(join(tmpdir(), 'parlane-conversation-crash-'));
  readonly #server: Server;
  /** Idempotency keys in the order in which the tool server saw them. */
  readonly #seen: string[] = [];
  #expected = '';
  #next = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += String(piece);
      });
      request.on('end', () => {
        this.#seen.push(String(request.headers['idempotency-key']));
        response.end(JSON.stringify({ did: JSON.parse(body).args }));
      });
    });
  }

  /** Runs it once without a kill; gives back its number of commits. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    writeWorld(this.#home, `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
    const at = join(this.#home, 'baseline');
    const said = await this.#child({ at, folder: this.#home });
    const store = await openStore({ at });
    const [record] = await store.runs();
    this.#expected = transcriptsOf(await crashProcessor(store, this.#home).results(record?.id ?? ''));
    await store.close();
    return Number(/commits (\d+)/.exec(said)?.[1] ?? 0);
  }

  async crash(kill: NonNullable<CrashOrder['kill']>): Promise<CrashReport> {
    const at = join(this.#home, `run-${this.#next++}`);
    const said = await this.#child({ at, folder: this.#home, kill });
    const store = await openStore({ at });
    const [record] = await store.runs();
    const run = record === undefined ? undefined : await store.openRun(record.id);
    const answered: string[] = [];
    const inFlight: string[] = [];
    for (let index = 0; index < crashBatch.scenarios.length; index += 1) {
      for (const step of (await run?.steps(caseIndex(index))) ?? []) {
        if (step.answer === undefined) inFlight.push(step.path);
        else if (step.kind === 'tool') answered.push(`${record?.id}/${index}/${step.path}`);
      }
    }
    const before = this.#seen.length;
    const processor = crashProcessor(store, this.#home);
    let id = record?.id ?? '';
    if (record === undefined || record.planned === undefined) {
      // Killed before the whole plan was kept: there is nothing to go on with, it is begun again.
      id = (await processor.create(crashBatch)).batch_id as typeof id;
      await processor.run(id);
    } else await processor.resume(id);
    const after = this.#seen.slice(before);
    const report = {
      killed: !said.includes('commits'),
      calledAgain: answered.filter((key) => after.some((seen) => seen === key || seen.endsWith(key))),
      sameTranscripts: transcriptsOf(await processor.results(id)) === this.#expected,
      inFlight,
    };
    await store.close();
    return report;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#home, { recursive: true, force: true });
  }

  #child(order: CrashOrder): Promise<string> {
    return new Promise((resolve, reject) => {
      const program = join(import.meta.dirname, 'crash-child.ts');
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, JSON.stringify(order)], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NODE_COMPILE_CACHE: join(this.#home, 'compiled') },
      });
      let said = '';
      let complained = '';
      child.stdout.on('data', (piece) => {
        said += String(piece);
      });
      child.stderr.on('data', (piece) => {
        complained += String(piece);
      });
      child.on('close', (code, signal) =>
        signal === 'SIGKILL' || code === 0 ? resolve(said) : reject(new Error(`the child failed: ${complained}`)),
      );
    });
  }
}

/** Kills at so many points, spread over all commits of the batch, and counts what must be 0. */
export async function conversationCrashes(points: number) {
  const rig = new ConversationCrashRig();
  try {
    const commits = await rig.start();
    const kills = Array.from({ length: points }, (_, at) => ({
      commit: 2 + Math.floor((at / points) * (commits - 2)),
      when: at % 2 === 0 ? ('after' as const) : ('before' as const),
    }));
    const reports = await inParallel(
      kills.map((kill) => () => rig.crash(kill)),
      2,
    );
    return {
      name: 'kill -9 in mid-conversation',
      kills: reports.filter(({ killed }) => killed).length,
      differentTranscripts: reports.filter(({ sameTranscripts }) => !sameTranscripts).length,
      toolsCalledAgain: reports.reduce((sum, { calledAgain }) => sum + calledAgain.length, 0),
    };
  } finally {
    rig.close();
  }
}
