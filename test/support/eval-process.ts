/** The built program in a folder of its own: `parlane eval` as a person runs it, and what it left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = join(import.meta.dirname, '../../bin/parlane.js');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A row of the output file, as far as tests look at it. */
export interface ResultRow {
  readonly testIdx: number;
  readonly promptIdx: number;
  readonly provider: { readonly id: string };
  readonly prompt: { readonly raw: string };
  readonly vars: Readonly<Record<string, unknown>>;
  readonly response?: { readonly output: unknown };
  readonly success: boolean;
  readonly score: number;
  readonly failureReason: 0 | 1 | 2;
  readonly error?: string;
  readonly latencyMs: number;
  readonly queueMs: number;
  readonly backoffMs: number;
  readonly attempts: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Ctrl-C. */
  interrupt(): void;
}

export class EvalPlace implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'parlane-e2e-'));

  /** Writes a file of the project; `promptfooconfig.yaml` is the config. */
  file(name: string, content: string | object): this {
    writeFileSync(join(this.folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return this;
  }

  /** YAML is a superset of JSON: a config may be written as an object. */
  config(content: string | object): this {
    return this.file('promptfooconfig.yaml', content);
  }

  /** Begins `parlane <args>` and comes back at once. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: this.folder,
      env: { PATH: process.env['PATH'], HOME: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (piece) => {
      out += String(piece);
    });
    child.stderr.on('data', (piece) => {
      err += String(piece);
    });
    const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
    return { child, ended, interrupt: () => void child.kill('SIGINT') };
  }

  /** `parlane eval --no-cache -o rows.jsonl <args>` to its end. */
  eval(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.startEval(args, env).ended;
  }

  startEval(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
    return this.start(['eval', '--no-cache', '-o', 'rows.jsonl', ...args], env);
  }

  rows(name = 'rows.jsonl'): ResultRow[] {
    const lines = readFileSync(join(this.folder, name), 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ResultRow);
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A provider of the fault server whose key and model have the name that tests speak of. */
export const at = (url: string, name: string, more: object = {}): object => ({
  id: `openai:chat:${name}`,
  config: { apiBaseUrl: `${url}/v1`, apiKey: name, ...more },
});

/** Tests with one var `x`: its position. */
export const numbered = (count: number): object[] =>
  Array.from({ length: count }, (_, position) => ({ vars: { x: `t${position}` } }));

/** What a row must be, however and in how many goes it came to be. */
export const canonical = (rows: readonly ResultRow[]): object[] =>
  rows.map(({ testIdx, promptIdx, provider, prompt, response, success, score, failureReason }) => ({
    testIdx,
    promptIdx,
    provider: provider.id,
    prompt: prompt.raw,
    output: response?.output,
    success,
    score,
    failureReason,
  }));
