/**
 * The line to one process that runs user code: messages out, messages in, one end. JavaScript talks over Node's own
 * channel; Python and Ruby read JSON lines from their input and answer on a private copy of their output, so that
 * whatever user code prints never gets between.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { join } from 'node:path';

export type CodeLanguage = 'javascript' | 'python' | 'ruby';

export interface WireMessage {
  readonly type: 'ready' | 'yielded' | 'done' | 'pong';
  readonly id?: number;
  readonly ok?: boolean;
  readonly value?: unknown;
  /** A number that JSON cannot say. */
  readonly special?: string;
  readonly uncloneable?: boolean;
  readonly message?: string;
  readonly stack?: string;
  /** The call changed the language's own objects: the process must not serve another one. */
  readonly tampered?: boolean;
}

export interface WireEnd {
  readonly cause: 'exit' | 'memory' | 'no-interpreter';
  readonly text: string;
}

export interface WireEvents {
  onMessage(message: WireMessage): void;
  /** Fires once; `why` is for people. */
  onEnd(why: WireEnd): void;
}

export interface Wire {
  send(message: unknown): void;
  kill(): void;
}

export interface WireOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly memoryMb: number;
  readonly interpreters: { readonly python: string; readonly ruby: string };
  /** What user code prints. */
  readonly onPrint?: (text: string) => void;
}

const tailLength = 2000;
const longestLine = 64 * 1024 * 1024;

function endOf(code: number | null, signal: string | null, tail: string): WireEnd {
  if (/heap out of memory|MemoryError|Allocation failed/.test(tail)) {
    return { cause: 'memory', text: 'the code ran out of memory' };
  }
  const last = tail.trim().split('\n').at(-1) ?? '';
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  const text = `the code ended its process (${how})${last === '' ? '' : `: ${last.slice(0, 300)}`}`;
  return { cause: code === 127 ? 'no-interpreter' : 'exit', text };
}

function watch(child: ChildProcess, program: string, events: WireEvents, onPrint?: (text: string) => void): void {
  let tail = '';
  let ended = false;
  const end = (why: WireEnd): void => {
    if (ended) return;
    ended = true;
    events.onEnd(why);
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailLength);
    onPrint?.(text);
  });
  child.on('error', (error: NodeJS.ErrnoException) =>
    end(
      error.code === 'ENOENT'
        ? { cause: 'no-interpreter', text: `"${program}" is not installed or not on the PATH` }
        : { cause: 'exit', text: error.message },
    ),
  );
  child.on('close', (code, signal) => end(endOf(code, signal, tail)));
}

function openJavascript(options: WireOptions, events: WireEvents): Wire {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const child = fork(join(import.meta.dirname, `code-child.${ending}`), [], {
    cwd: options.cwd,
    env: options.env as NodeJS.ProcessEnv,
    execArgv: [`--max-old-space-size=${options.memoryMb}`, '--no-warnings'],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  watch(child, 'node', events, options.onPrint);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => options.onPrint?.(text));
  child.on('message', (message) => events.onMessage(message as WireMessage));
  return {
    send: (message) => {
      if (child.connected) child.send(message as object, () => undefined);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

function openLines(program: string, script: string, options: WireOptions, events: WireEvents): Wire {
  const child = spawn(program, [join(import.meta.dirname, script)], {
    cwd: options.cwd,
    env: options.env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  watch(child, program, events, options.onPrint);
  let buffer = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    buffer += text;
    const lines = buffer.split('\n');
    buffer = lines.pop() ?? '';
    if (buffer.length > longestLine) child.kill('SIGKILL');
    for (const line of lines) if (line !== '') events.onMessage(JSON.parse(line) as WireMessage);
  });
  child.stdin.on('error', () => undefined);
  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Starts the process of one language. */
export function openWire(language: CodeLanguage, options: WireOptions, events: WireEvents): Wire {
  switch (language) {
    case 'javascript':
      return openJavascript(options, events);
    case 'python':
      return openLines(options.interpreters.python, 'code-child.py', options, events);
    case 'ruby':
      return openLines(options.interpreters.ruby, 'code-child.rb', options, events);
  }
}
