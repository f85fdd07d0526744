import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { demandConversation } from '../demand-conversation.ts';
import { includesPartly } from '../match-arguments.ts';

/** A place in the state, as a dotted path. */
function at(state: Json | undefined, path: string): Json | undefined {
  let here = state;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Readonly<Record<string, Json>>)[key];
  }
  return here;
}

/**
 * `state-equals`: the world of the state tools ended like this. `config: {path: "cart.items"}` looks at one place,
 * `config: {mode: partial}` lets there be more.
 */
export const stateEquals: Check = (input) => {
  const { value, inverse, type, assertion } = input;
  const { final_state: state } = demandConversation(input);
  demand(state !== undefined, `"${type}" needs state tools, and this conversation has none`);
  demand(value !== undefined, `"${type}" needs the expected state as its value`);
  const path = assertion.config?.['path'];
  const found = typeof path === 'string' && path !== '' ? at(state, path) : state;
  const partial = assertion.config?.['mode'] === 'partial' && (isObject(value) || Array.isArray(value));
  const same = partial ? includesPartly(found, value) : isDeepStrictEqual(found, value);
  return explained(
    same !== inverse,
    `${inverse ? 'Forbidden' : 'Expected'} state: ${JSON.stringify(value)}; found: ${JSON.stringify(found) ?? 'nothing'}`,
  );
};
