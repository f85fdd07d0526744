import { assertNever } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { StateAction } from '../prompts/specification.ts';
import { renderTemplate } from '../prompts/template.ts';
import { matches, valueAt, type Write } from './world.ts';

/** What a state tool answers and how the world changes. A pure function, so that a replayed session has the same world. */
export interface StateOutcome {
  readonly value: Json;
  readonly write?: Write;
}

export function runState(action: StateAction, args: JsonObject, world: JsonObject): StateOutcome {
  const at = pathOf(action.at, args);
  const here = valueAt(world, at) ?? action.initial;
  const outcome = act(action, args, at, here);
  if (action.reply === undefined) return outcome;
  const state = outcome.write === undefined ? here : outcome.write.value;
  return { ...outcome, value: renderTemplate(action.reply, { args, value: outcome.value, state: state ?? null }) };
}

/** `cart.{product_id}`: names in braces are arguments. */
function pathOf(at: string, args: JsonObject): string[] {
  return at.split('.').map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    const key = name === undefined ? part : String(args[name] ?? '');
    if (key === '' || key === '__proto__' || key === 'constructor' || key === 'prototype')
      throw new Error(`"${at}" leads nowhere`);
    return key;
  });
}

function act(action: StateAction, args: JsonObject, at: readonly string[], here: Json | undefined): StateOutcome {
  switch (action.do) {
    case 'get':
      return { value: here ?? null };
    case 'set': {
      const value = action.from === undefined ? args : (args[action.from] ?? null);
      return { value, write: { at, value } };
    }
    case 'list':
      return { value: listItems(action, args, here) };
    case 'insert': {
      const value = inserted(action.key, args, listOf(here));
      return { value, write: { at, value } };
    }
    case 'remove': {
      const items = listOf(here);
      const pattern = action.key === undefined ? args : { [action.key]: args[action.key] ?? null };
      const value = items.filter((item) => !matches(item, pattern));
      if (value.length === items.length) throw new Error('nothing like that is there');
      return { value, write: { at, value } };
    }
    default:
      return assertNever(action.do);
  }
}

function listOf(here: Json | undefined): readonly Json[] {
  if (here === undefined || here === null) return [];
  if (Array.isArray(here)) return here;
  throw new Error('there is no list here');
}

function inserted(key: string | undefined, args: JsonObject, items: readonly Json[]): readonly Json[] {
  if (key === undefined) return [...items, args];
  const same = (item: Json): boolean => matches(item, { [key]: args[key] ?? null });
  return items.some(same) ? items.map((item) => (same(item) ? args : item)) : [...items, args];
}

function listItems(action: StateAction, args: JsonObject, here: Json | undefined): readonly Json[] {
  const items = listOf(here);
  if (action.search === undefined)
    return Object.keys(args).length === 0 ? items : items.filter((item) => matches(item, args));
  const { by, in: fields } = action.search;
  const words = String(args[by] ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  const textOf = (item: Json): string =>
    fields
      .map((field) => String(valueAt(item, [field]) ?? ''))
      .join(' ')
      .toLowerCase();
  return items.filter((item) => words.length > 0 && words.every((word) => textOf(item).includes(word)));
}
