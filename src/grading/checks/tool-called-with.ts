import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained, parsedOrText } from '../check.ts';
import { demandConversation } from '../demand-conversation.ts';
import { matchesGlob } from '../glob.ts';
import { argumentRules, argumentsMatch } from '../match-arguments.ts';
import { speakersOf } from '../speakers.ts';
import { toolCallsOf } from '../transcript.ts';

/** `tool-called-with`: some call of the tool had these arguments; `mode: exact` allows no others. */
export const toolCalledWith: Check = (input) => {
  const { value, inverse, type } = input;
  const conversation = demandConversation(input);
  const name = isObject(value) ? value['name'] : undefined;
  demand(isObject(value) && typeof name === 'string' && name !== '', `"${type}" needs {name, args}`);
  const rules = argumentRules(type, value);
  const calls = toolCallsOf(conversation, speakersOf(input.assertion, 'all')).filter((call) =>
    matchesGlob(call.function.name, name),
  );
  const found = calls.some((call) => argumentsMatch(parsedOrText(call.function.arguments), rules));
  const seen = calls.map((call) => call.function.arguments).join(', ') || 'no call';
  return explained(
    found !== inverse,
    `${inverse ? 'Forbidden' : 'Expected'} for ${name}: ${JSON.stringify(rules.expected)}; seen: ${seen}`,
  );
};
