/**
 * One language's process and the calls that wait for it.
 *
 * Invariants:
 * 1. At most one call is in its synchronous part, so a loop there has one suspect.
 * 2. A call's clock runs only while the process has it; waiting in line is free.
 * 3. When the process stops answering or ends, the only call in it is to blame. With several, each is run again alone.
 * 4. Every call settles exactly once.
 */
import type { CodeCall, CodeOutcome } from '../domain/code-runner.ts';
import {
  type CodeLanguage,
  openWire,
  type Wire,
  type WireEnd,
  type WireMessage,
  type WireOptions,
} from './code-wire.ts';

interface Task {
  readonly id: number;
  readonly call: CodeCall;
  readonly timeoutMs: number;
  readonly settle: (outcome: CodeOutcome) => void;
  timer?: NodeJS.Timeout;
  alone: boolean;
}

/** How long a healthy process may take to answer a ping. */
const pongMs = 100;
/** Hanging promises left behind in one process before it is replaced. */
const mostLeftBehind = 16;

const aborted: CodeOutcome = { kind: 'broke', cause: 'aborted', message: 'stopped' };
const specials: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity };

function outcomeOf(message: WireMessage): CodeOutcome {
  const text = message.message ?? 'the code failed';
  if (message.ok === true) {
    const special = message.special === undefined ? undefined : specials[message.special];
    return { kind: 'returned', value: special ?? message.value };
  }
  if (message.uncloneable === true) return { kind: 'broke', cause: 'uncloneable', message: text };
  return { kind: 'threw', message: text, ...(message.stack === undefined ? {} : { stack: message.stack }) };
}

export class CodeProcess {
  readonly #language: CodeLanguage;
  readonly #options: WireOptions;
  readonly #defaultTimeoutMs: number;
  readonly #waiting: Task[] = [];
  readonly #running = new Map<number, Task>();
  #wire: Wire | undefined;
  #ready = false;
  #synchronous: Task | undefined;
  #pong: (() => void) | undefined;
  #leftBehind = 0;
  #nextId = 1;
  #closed = false;

  constructor(language: CodeLanguage, options: WireOptions, defaultTimeoutMs: number) {
    this.#language = language;
    this.#options = options;
    this.#defaultTimeoutMs = defaultTimeoutMs;
  }

  run(call: CodeCall, signal: AbortSignal | undefined): Promise<CodeOutcome> {
    if (this.#closed || signal?.aborted) return Promise.resolve(aborted);
    return new Promise((resolve) => {
      const onAbort = (): void => this.#abandon(task);
      const settle = (outcome: CodeOutcome): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      const timeoutMs = call.timeoutMs ?? this.#defaultTimeoutMs;
      const task: Task = { id: this.#nextId++, call, timeoutMs, settle, alone: false };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(task);
      this.#pump();
    });
  }

  close(): void {
    this.#closed = true;
    const tasks = [...this.#running.values(), ...this.#waiting];
    this.#waiting.length = 0;
    this.#drop();
    for (const task of tasks) this.#finish(task, aborted);
  }

  #pump(): void {
    if (this.#closed || this.#synchronous !== undefined || this.#waiting.length === 0) return;
    if (this.#leftBehind >= mostLeftBehind && this.#running.size === 0) this.#drop();
    const running = [...this.#running.values()];
    const next = this.#waiting.find((task) => task.alone) ?? this.#waiting[0];
    if (next === undefined || running.some((task) => task.alone) || (next.alone && running.length > 0)) return;
    this.#wire ??= this.#open();
    if (!this.#ready) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#start(next);
  }

  #start(task: Task): void {
    this.#running.set(task.id, task);
    this.#synchronous = task;
    task.timer = setTimeout(() => this.#overdue(task), Math.min(task.timeoutMs, 2 ** 31 - 1));
    this.#wire?.send({ ...task.call, type: 'call', id: task.id });
  }

  #open(): Wire {
    this.#ready = false;
    let current = true;
    const wire = openWire(this.#language, this.#options, {
      onMessage: (message) => {
        if (current && this.#wire === wire) this.#receive(message);
      },
      onEnd: (why) => {
        current = false;
        if (this.#wire === wire) this.#ended(why);
      },
    });
    return wire;
  }

  #receive(message: WireMessage): void {
    if (message.type === 'ready') this.#ready = true;
    if (message.type === 'pong') this.#pong?.();
    const task = message.id === undefined ? undefined : this.#running.get(message.id);
    if (task !== undefined && this.#synchronous === task) this.#synchronous = undefined;
    if (message.type === 'done') {
      if (task !== undefined) this.#finish(task, outcomeOf(message));
      if (message.tampered === true) this.#restart();
    }
    this.#pump();
  }

  #finish(task: Task, outcome: CodeOutcome): void {
    clearTimeout(task.timer);
    this.#running.delete(task.id);
    if (this.#synchronous === task) this.#synchronous = undefined;
    task.settle(outcome);
  }

  #overdue(task: Task): void {
    const message = `the code did not finish within ${task.timeoutMs} ms`;
    const late: CodeOutcome = { kind: 'broke', cause: 'timeout', message };
    if (this.#running.size === 1 && this.#synchronous === task) {
      this.#drop();
      this.#finish(task, late);
      this.#pump();
      return;
    }
    const wire = this.#wire;
    const giveUp = setTimeout(() => {
      this.#pong = undefined;
      if (this.#wire === wire) this.#blame(late);
    }, pongMs);
    this.#pong = () => {
      clearTimeout(giveUp);
      this.#pong = undefined;
      this.#leftBehind += 1;
      if (this.#running.has(task.id)) this.#finish(task, late);
      this.#pump();
    };
    wire?.send({ type: 'ping' });
  }

  #ended(why: WireEnd): void {
    const started = this.#ready;
    this.#drop();
    const outcome: CodeOutcome = { kind: 'broke', cause: why.cause, message: why.text };
    if (started) {
      this.#blame(outcome);
      return;
    }
    // It never got ready: nobody's call is to blame and none can be run.
    for (const task of this.#waiting.splice(0)) this.#finish(task, outcome);
  }

  /** Invariant 3. */
  #blame(outcome: CodeOutcome): void {
    const suspects = [...this.#running.values()];
    this.#drop();
    const [only] = suspects;
    if (suspects.length === 1 && only !== undefined) this.#finish(only, outcome);
    else this.#runAlone(suspects);
    this.#pump();
  }

  #restart(): void {
    const others = [...this.#running.values()];
    this.#drop();
    this.#runAlone(others);
  }

  #runAlone(tasks: readonly Task[]): void {
    for (const task of tasks) {
      clearTimeout(task.timer);
      this.#running.delete(task.id);
      task.alone = true;
    }
    this.#waiting.unshift(...tasks);
  }

  #abandon(task: Task): void {
    const waiting = this.#waiting.indexOf(task);
    if (waiting >= 0) this.#waiting.splice(waiting, 1);
    const blocking = this.#synchronous === task;
    this.#finish(task, aborted);
    if (blocking) this.#restart();
    this.#pump();
  }

  #drop(): void {
    const wire = this.#wire;
    this.#wire = undefined;
    this.#ready = false;
    this.#synchronous = undefined;
    this.#leftBehind = 0;
    wire?.kill();
  }
}
