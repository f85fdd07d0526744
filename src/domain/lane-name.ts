import type { LaneKey } from './ids.ts';

/** A lane's key as people say it: without the hash that tells accounts apart. `openai#x7f.../gpt-5` is `openai:gpt-5`. */
export const laneName = (key: LaneKey | string): string =>
  key.replace(/^([\w.-]+)#[\w-]{6,64}\//, '$1:').replace(/:[0-9a-f]{6,64}$/, '');
