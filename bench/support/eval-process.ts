/** Programs under measurement: `parlane` as built, and a plain script with undici, each in a process of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'dist', 'cli', 'main.js');
const plainProgram = join(import.meta.dirname, 'plain-requests.ts');

/** What a process used, by its own last word. */
export interface Used {
  /** Seconds. */
  readonly cpu: number;
  readonly rssMb: number;
  readonly startedAt: number;
  readonly wallMs: number;
}

export interface PlainWork {
  readonly url: string;
  readonly lanes: readonly { readonly key: string; readonly calls: number }[];
  /** Calls in flight per key. */
  readonly atOnce: number;
}

const lastWord = `
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  require('node:fs').writeFileSync(process.env.FIGURES, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, rssMb: maxRSS / 1024 }));
});
`;

let runs = 0;

export class BenchFolder implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parlane-bench-'));

  file(name: string, text: string): this {
    writeFileSync(join(this.#folder, name), text);
    return this;
  }

  size(name: string): number {
    return statSync(join(this.#folder, name)).size;
  }

  parlane(args: readonly string[]): Promise<Used> {
    return this.#measured([program, ...args]);
  }

  plain(work: PlainWork): Promise<Used> {
    return this.#measured([plainProgram, JSON.stringify(work)]);
  }

  async #measured(args: readonly string[]): Promise<Used> {
    const figures = join(this.#folder, `figures-${runs++}.json`);
    this.file('last-word.cjs', lastWord);
    const startedAt = Date.now();
    const child = spawn(
      process.execPath,
      ['--no-warnings', '--require', join(this.#folder, 'last-word.cjs'), ...args],
      {
        cwd: this.#folder,
        env: { ...process.env, FIGURES: figures, OPENAI_API_KEY: 'k' },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    await new Promise((resolve) => child.once('exit', resolve));
    const wallMs = Date.now() - startedAt;
    return { ...(JSON.parse(readFileSync(figures, 'utf8')) as Pick<Used, 'cpu' | 'rssMb'>), startedAt, wallMs };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
