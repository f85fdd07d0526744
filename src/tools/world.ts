import { isObject, type Json, type JsonObject } from '../domain/json.ts';

/** A change of a session's world: the value that now stands at a path. */
export interface Write {
  readonly at: readonly string[];
  readonly value: Json;
}

/** The value at a path; undefined when there is none. */
export function valueAt(world: Json, at: readonly string[]): Json | undefined {
  let value: Json | undefined = world;
  for (const key of at) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

/** A world in which the value stands at the path. The old one stays as it was. */
export function withWrite(world: JsonObject, write: Write): JsonObject {
  const [key, ...rest] = write.at;
  if (key === undefined) return isObject(write.value) ? write.value : world;
  const inner = world[key];
  return {
    ...world,
    [key]: rest.length === 0 ? write.value : withWrite(isObject(inner) ? inner : {}, { at: rest, value: write.value }),
  };
}

/** Whether the data holds everything the pattern asks for; objects may hold more. */
export function matches(data: Json | undefined, pattern: Json): boolean {
  if (isObject(pattern)) {
    if (Object.keys(pattern).length === 1 && typeof pattern['contains'] === 'string' && typeof data === 'string') {
      return data.toLowerCase().includes(pattern['contains'].toLowerCase());
    }
    return (
      isObject(data) &&
      Object.entries(pattern).every(([key, item]) => Object.hasOwn(data, key) && matches(data[key], item))
    );
  }
  if (Array.isArray(pattern)) {
    return (
      Array.isArray(data) && data.length === pattern.length && pattern.every((item, at) => matches(data[at], item))
    );
  }
  return data === pattern;
}
