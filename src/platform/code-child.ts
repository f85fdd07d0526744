/**
 * The process that runs a user's JavaScript and TypeScript. It answers each call with plain data, tells its parent when
 * a call has left its synchronous part, and says when a call has changed the language's own objects.
 * Not its job: time limits. The parent keeps them, because a loop here leaves nobody here to look at the clock.
 */
import { existsSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CodeCall, UserCode } from '../domain/code-runner.ts';
import { fingerprint } from './code-tampering.ts';
import { plainData } from './plain-data.ts';

type Callable = (...args: unknown[]) => unknown;
type Request = CodeCall & { readonly type: 'call'; readonly id: number };

// User code may replace these; ours are the originals.
const send = process.send?.bind(process) ?? (() => undefined);
const intact = fingerprint();

class Missing extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const own = (value: unknown, key: string): unknown =>
  (isRecord(value) || typeof value === 'function') && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** TypeScript written for bundlers leaves endings out of its imports; the file beside is what it means. */
registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!/^\.{1,2}\//.test(specifier) || context.parentURL === undefined) throw error;
      const base = fileURLToPath(new URL(specifier, context.parentURL));
      const stem = base.replace(/\.[cm]?js$/, '');
      const endings = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.json', '/index.ts', '/index.js'];
      const found = endings.map((ending) => stem + ending).find((path) => existsSync(path));
      if (found === undefined) throw error;
      return next(pathToFileURL(found).href, context);
    }
  },
});

function setRequire(folder: string): void {
  const require = createRequire(join(folder, 'inline.js'));
  Object.defineProperty(process, 'mainModule', { value: { require, exports: {} }, configurable: true });
}
setRequire(process.cwd());

/** What a module stands for: its default export when it has one (CommonJS ones included), else all its exports. */
function mainExport(module: Record<string, unknown>): unknown {
  const first = Object.hasOwn(module, 'default') ? module['default'] : undefined;
  if (isRecord(first) && Object.hasOwn(first, '__esModule') && Object.hasOwn(first, 'default')) return first['default'];
  return first === undefined ? { ...module } : first;
}

async function walk(start: unknown, name: string): Promise<unknown> {
  let value = start;
  for (const part of name.split('.')) {
    // A config may be exported as a function that makes it.
    if (typeof value === 'function' && own(value, part) === undefined) value = await (value as Callable)();
    value = own(value, part);
  }
  return value;
}

async function exported(code: Extract<UserCode, { kind: 'file' }>): Promise<unknown> {
  if (!existsSync(code.path)) throw new Missing(`no such file: ${code.path}`);
  const module = (await import(pathToFileURL(code.path).href)) as Record<string, unknown>;
  const main = mainExport(module);
  const name = code.functionName;
  if (name === undefined) return main;
  const named = own(module, name) ?? own(main, name);
  if (named !== undefined) return named;
  const deep = name.includes('.') ? await walk(main, name) : undefined;
  if (deep !== undefined) return deep;
  if (typeof main === 'function') return main;
  throw new Missing(`${code.path} exports no "${name}"`);
}

function inline(code: Extract<UserCode, { kind: 'inline' }>): Callable {
  // Compiling the author's inline code is this module's job.
  const compile = Function as unknown as new (...parts: string[]) => Callable;
  return new compile(...code.parameters, code.body);
}

async function work({ code, args, mode }: Request, onYield: () => void): Promise<unknown> {
  const value = code.kind === 'inline' ? inline(code) : await exported(code);
  if (typeof value !== 'function') {
    if (mode === 'read' || code.kind === 'inline') return value;
    const name = code.functionName === undefined ? ' as its default' : ` "${code.functionName}"`;
    throw new Missing(`${code.path} must export a function${name}`);
  }
  const result = (value as Callable)(...args);
  onYield();
  return result;
}

function answerFor({ id, code, mode }: Request, value: unknown): object {
  const name = (path: readonly string[]): string | undefined => {
    if (mode !== 'read' || code.kind === 'inline') return undefined;
    const start = code.functionName === undefined ? [] : [code.functionName];
    return `file://${code.path}:${[...start, ...path].join('.')}`;
  };
  try {
    return { type: 'done', id, ok: true, value: plainData(value, name) };
  } catch (error) {
    return { ...failureFor(id, error), uncloneable: true };
  }
}

function failureFor(id: number, error: unknown): object {
  const message = error instanceof Error ? error.message : `the code threw ${String(error)}`;
  const stack = error instanceof Error && !(error instanceof Missing) ? error.stack : undefined;
  return { type: 'done', id, ok: false, message, stack };
}

async function serve(request: Request): Promise<void> {
  let answer: object;
  try {
    answer = answerFor(request, await work(request, () => send({ type: 'yielded', id: request.id })));
  } catch (error) {
    answer = failureFor(request.id, error);
  }
  send({ ...answer, tampered: !intact() });
}

process.on('message', (message: Request | { readonly type: 'ping' }) => {
  if (message.type === 'ping') send({ type: 'pong' });
  else void serve(message);
});
process.on('disconnect', () => process.exit(0));
// A promise that nobody awaits must not end the process for everybody else's calls.
process.on('unhandledRejection', () => undefined);
process.on('uncaughtException', (error) => process.stderr.write(`${error.stack ?? String(error)}\n`));
send({ type: 'ready' });
