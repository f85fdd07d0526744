/**
 * Runs inside the process of a user's module: makes the provider once and calls it. Kept there, because a class keeps
 * state between its calls; this is the only state, and it ends with the process.
 */
import { pathToFileURL } from 'node:url';

type Callable = (...args: unknown[]) => unknown;
type Constructor = new (options: unknown) => object;

const instances = new Map<string, object>();

const isObject = (value: unknown): value is Record<string, unknown> =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** The default export, also of CommonJS and of transpiled modules; else everything that is exported. */
function mainOf(module: Record<string, unknown>): unknown {
  let main: unknown = module['default'] ?? module;
  if (isObject(main) && main['__esModule'] === true && main['default'] !== undefined) main = main['default'];
  return main;
}

const isClass = (value: Callable): boolean =>
  isObject(value.prototype) && (typeof value.prototype['callApi'] === 'function' || /^class\b/.test(String(value)));

async function load(path: string, name: string | null, options: unknown): Promise<object> {
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  const main = mainOf(module);
  const chosen = name === null ? main : (module[name] ?? (isObject(main) ? main[name] : undefined));
  if (chosen === undefined) throw new Error(`${path} exports no "${name}"`);
  if (typeof chosen === 'function' && isClass(chosen as Callable))
    return new (chosen as unknown as Constructor)(options);
  if (typeof chosen === 'function') return { callApi: chosen };
  if (isObject(chosen) && typeof chosen['callApi'] === 'function') return chosen;
  throw new Error(`${path} must export a class with callApi, an object with callApi, or a function`);
}

/** One call of the user's provider. */
export default async function callProvider(
  path: string,
  name: string | null,
  method: string,
  options: unknown,
  args: readonly unknown[],
): Promise<unknown> {
  const key = JSON.stringify([path, name, options]);
  const instance = instances.get(key) ?? (await load(path, name, options));
  instances.set(key, instance);
  const call = (instance as Record<string, unknown>)[method];
  if (typeof call !== 'function') throw new Error(`${path} has no ${method}`);
  return (call as Callable).apply(instance, [...args]);
}
