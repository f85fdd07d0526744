import type { Json, JsonObject } from '../domain/json.ts';
import type { ScriptRule } from '../prompts/specification.ts';
import { renderTemplate } from '../prompts/template.ts';
import { matches } from './world.ts';

/** The first rule that fits arguments, number of calls and state gives the answer. */
export function runScript(rules: readonly ScriptRule[], args: JsonObject, callNumber: number, world: JsonObject): Json {
  const rule = rules.find(({ when }) => fits(when, args, callNumber, world));
  if (rule === undefined) throw new Error('no rule of its script fits this call');
  return rendered(rule.reply, { args, state: world, calls: callNumber });
}

function fits(when: ScriptRule['when'], args: JsonObject, callNumber: number, world: JsonObject): boolean {
  if (when.args !== undefined && !matches(args, when.args)) return false;
  if (when.state !== undefined && !matches(world, when.state)) return false;
  if (when.calls === undefined) return true;
  if (typeof when.calls === 'number') return callNumber === when.calls;
  return callNumber >= (when.calls.min ?? 1) && callNumber <= (when.calls.max ?? Number.POSITIVE_INFINITY);
}

/** Replies are the author's text: they may show arguments and state, at any depth. */
function rendered(reply: Json, values: JsonObject): Json {
  if (typeof reply === 'string') return renderTemplate(reply, values);
  if (Array.isArray(reply)) return reply.map((item) => rendered(item, values));
  if (reply === null || typeof reply !== 'object') return reply;
  return Object.fromEntries(Object.entries(reply).map(([key, item]) => [key, rendered(item, values)]));
}
