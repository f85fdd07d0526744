import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { demandConversation } from '../demand-conversation.ts';
import { handoffPathOf } from '../transcript.ts';

const inOrder = (path: readonly string[], wanted: readonly string[]): boolean => {
  let next = 0;
  for (const agent of path) if (agent === wanted[next]) next += 1;
  return next === wanted.length;
};

/** `handoff-path`: the agents held the conversation in this order; `mode: in_order` lets others stand between. */
export const handoffPath: Check = (input) => {
  const { value, inverse, type } = input;
  const path = handoffPathOf(demandConversation(input));
  const said = isObject(value) ? value['agents'] : value;
  const list = typeof said === 'string' ? said.split(/\s*(?:->|,)\s*/) : said;
  const usable = Array.isArray(list) && list.length > 0 && list.every((agent) => typeof agent === 'string');
  demand(usable, `"${type}" needs a list of agents, "a -> b", or {agents, mode}`);
  const wanted = list.map(String);
  const loose = isObject(value) && value['mode'] === 'in_order';
  const same = loose ? inOrder(path, wanted) : wanted.join('\n') === path.join('\n');
  return explained(
    same !== inverse,
    `${inverse ? 'Forbidden' : 'Expected'}: ${wanted.join(' -> ')}; it was: ${path.join(' -> ')}`,
  );
};
