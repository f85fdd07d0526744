import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { demandConversation } from '../demand-conversation.ts';
import { matchesGlob } from '../glob.ts';
import { speakersOf } from '../speakers.ts';
import { toolCallsOf } from '../transcript.ts';

/** `tool-called`: these tools were called; as an object, one tool so many times. */
export const toolCalled: Check = (input) => {
  const { value, inverse, type } = input;
  const called = toolCallsOf(demandConversation(input), speakersOf(input.assertion, 'all')).map(
    (call) => call.function.name,
  );
  const list = called.join(', ') || 'none';
  if (isObject(value)) {
    const { name, min, max } = value;
    demand(typeof name === 'string' && name !== '', `"${type}" needs the name of a tool`);
    const count = called.filter((tool) => matchesGlob(tool, name)).length;
    const least = typeof min === 'number' ? min : typeof max === 'number' ? 0 : 1;
    const most = typeof max === 'number' ? max : Number.POSITIVE_INFINITY;
    return explained(
      (count >= least && count <= most) !== inverse,
      `${name} was called ${count} times (min ${least}, max ${most}); called: ${list}`,
    );
  }
  const wanted = typeof value === 'string' ? [value] : value;
  const usable = Array.isArray(wanted) && wanted.length > 0 && wanted.every((tool) => typeof tool === 'string');
  demand(usable, `"${type}" needs a tool name, a list of them, or {name, min, max}`);
  const seen = wanted.filter((tool) => called.some((name) => matchesGlob(name, String(tool))));
  const pass = inverse ? seen.length === 0 : seen.length === wanted.length;
  return explained(pass, `${inverse ? 'Forbidden' : 'Expected'} tools: ${wanted.join(', ')}; called: ${list}`);
};
