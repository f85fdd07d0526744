import { isObject, type Json } from '../../domain/json.ts';
import { thresholdOf } from '../assertion-table.ts';
import { type Check, demand } from '../check.ts';

const nameIn = (value: Json | undefined): string[] =>
  isObject(value) && typeof value['name'] === 'string' ? [value['name']] : [];

/** The tool named by one call, whichever vendor's shape it has. */
function namesOfCall(call: Json): string[] {
  if (!isObject(call)) return [];
  if (call['type'] === 'tool_use') return nameIn(call);
  if (isObject(call['functionCall'])) return nameIn(call['functionCall']);
  if (isObject(call['function'])) return nameIn(call['function']);
  return nameIn(call);
}

function namesInText(text: string): string[] {
  const parse = (part: string): string[] => {
    try {
      return toolNamesIn(JSON.parse(part) as Json);
    } catch {
      return [];
    }
  };
  const whole = parse(text);
  if (whole.length > 0) return whole;
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => /^[{[]/.test(line)).flatMap(parse);
}

/** Every tool that an output calls: OpenAI, Anthropic and Google shapes, as data or as text with JSON lines. */
function toolNamesIn(output: Json): string[] {
  if (typeof output === 'string') return namesInText(output);
  if (Array.isArray(output)) return output.flatMap(namesOfCall);
  if (!isObject(output)) return [];
  if (Array.isArray(output['tool_calls'])) return output['tool_calls'].flatMap(namesOfCall);
  if (output['type'] === 'tool_use') return nameIn(output);
  if (isObject(output['functionCall'])) return nameIn(output['functionCall']);
  const live = output['toolCall'];
  if (isObject(live) && Array.isArray(live['functionCalls'])) return live['functionCalls'].flatMap(nameIn);
  return [];
}

/** `tool-call-f1`: how well the set of called tools meets the expected set. */
export const toolCallF1: Check = ({ assertion, value, output, inverse, subject }) => {
  const list = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  demand(Array.isArray(list) && list.length > 0, '"tool-call-f1" needs tool names (a list, or text with commas)');
  const expected = new Set(list.map(String));
  const spoken = subject.conversation?.conversation_history.flatMap((entry) => entry.tool_calls ?? []);
  const called = new Set(spoken === undefined ? toolNamesIn(output) : spoken.map((call) => call.function.name));
  const hits = [...expected].filter((name) => called.has(name)).length;
  const f1 = expected.size + called.size === 0 ? 0 : (2 * hits) / (expected.size + called.size);
  const threshold = thresholdOf(assertion) ?? 1;
  return {
    pass: f1 >= threshold !== inverse,
    score: f1,
    reason: `F1 ${f1.toFixed(3)} (threshold ${threshold}); expected [${[...expected].join(', ')}], called [${[...called].join(', ')}]`,
  };
};
