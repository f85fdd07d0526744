import type { LaneKey } from './ids.ts';

/** A lane's key as people say it: without the hash that tells accounts apart. `openai#x7f.../gpt-5` is `openai:gpt-5`. */
export const laneName = (key: LaneKey | string): string =>
  key.replace(/^([\w.-]+)#[\w-]{6,64}\//, '$1:').replace(/:[0-9a-f]{6,64}$/, '');

/**
 * The lanes that a person means: those of that key or name, else those whose name begins with it (`openai` is
 * `openai:gpt-5`), else those that have it anywhere in them.
 */
export function lanesMeant<K extends LaneKey | string>(keys: readonly K[], name: string): K[] {
  const readings: ((key: K) => boolean)[] = [
    (key) => key === name || laneName(key) === name,
    (key) => laneName(key).startsWith(`${name}:`),
    (key) => key.includes(name) || laneName(key).includes(name),
  ];
  for (const means of readings) {
    const found = keys.filter(means);
    if (found.length > 0) return found;
  }
  return [];
}
