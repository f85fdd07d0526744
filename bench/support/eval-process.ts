/** Programs under measurement: `parlane` as built, and a plain script with undici, each in a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
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
let built = false;

/** What is measured is what the sources say now. */
function build(): void {
  if (built) return;
  const { status } = spawnSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('the build failed');
  built = true;
}

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
    build();
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
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    const wallMs = Date.now() - startedAt;
    // 100: some checks failed. Anything else measured nothing.
    if (code !== 0 && code !== 100) throw new Error(`${args.join(' ')} ended with exit code ${code}`);
    return { ...(JSON.parse(readFileSync(figures, 'utf8')) as Pick<Used, 'cpu' | 'rssMb'>), startedAt, wallMs };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
