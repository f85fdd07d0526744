/** Follows `$ref` inside a config: `#/defs/x` in the same file, `other.yaml#/x` in another one. */
import { dirname } from 'node:path';
import type { Json } from '../domain/json.ts';
import { absolute } from './file-reference.ts';
import { type Loading, readSource } from './loading.ts';

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function pointed(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const raw of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(raw).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

/** Tool parameters are schemas with references of their own, which belong to the vendor. */
const isToolSchema = (path: readonly string[]): boolean =>
  path.at(-1) === 'parameters' && (path.includes('tools') || path.includes('functions'));

interface Scope {
  readonly root: Json;
  readonly folder: string;
  readonly trail: readonly string[];
}

/** The value with its references replaced by what they mean; one that leads nowhere is reported and left. */
export async function dereference(
  root: Json,
  file: string,
  loading: Loading,
  fault: (path: readonly string[], message: string) => void,
): Promise<Json> {
  const target = async (reference: string, scope: Scope): Promise<{ value: Json; scope: Scope } | undefined> => {
    const [name = '', pointer = ''] = reference.split('#');
    const trail = [...scope.trail, `${scope.folder}|${reference}`];
    if (/^https?:/.test(name)) return undefined;
    if (name === '') {
      const value = pointed(scope.root, pointer);
      return value === undefined ? undefined : { value, scope: { ...scope, trail } };
    }
    const path = absolute(name.replace(/^file:\/\//, ''), scope.folder);
    const other = await readSource(path, loading);
    if (other?.value === undefined) return undefined;
    const value = pointed(other.value, pointer);
    return value === undefined ? undefined : { value, scope: { root: other.value, folder: dirname(path), trail } };
  };
  const visit = async (value: Json, path: readonly string[], scope: Scope): Promise<Json> => {
    if (Array.isArray(value)) {
      const items: Json[] = [];
      for (const [at, item] of value.entries()) items.push(await visit(item, [...path, String(at)], scope));
      return items;
    }
    if (!isObject(value) || isToolSchema(path)) return value;
    const reference = value['$ref'];
    if (typeof reference === 'string') {
      if (scope.trail.includes(`${scope.folder}|${reference}`)) {
        fault(path, `the reference "${reference}" leads back to itself`);
        return value;
      }
      const found = await target(reference, scope);
      if (found === undefined) {
        fault(path, `the reference "${reference}" leads nowhere`);
        return value;
      }
      const { $ref: _, ...beside } = value;
      const whole = await visit(found.value, path, found.scope);
      return isObject(whole) && Object.keys(beside).length > 0 ? { ...whole, ...beside } : whole;
    }
    const parts: [string, Json][] = [];
    for (const [key, item] of Object.entries(value)) parts.push([key, await visit(item, [...path, key], scope)]);
    return Object.fromEntries(parts);
  };
  return visit(root, [], { root, folder: dirname(file), trail: [] });
}
