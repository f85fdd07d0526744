import type { Json, JsonObject } from '../domain/json.ts';

/** A list stands for several values only when its first element is text; any other list is one value. */
const standsForMany = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value) && typeof value[0] === 'string';

/** Every combination of the values that lists stand for, the last list changing fastest. */
export function* varCombinations(vars: JsonObject): Generator<JsonObject> {
  const names = Object.keys(vars);
  const lists = names.map((name) =>
    standsForMany(vars[name]) ? (vars[name] as readonly Json[]) : [vars[name] ?? null],
  );
  if (lists.every((list) => list.length === 1) && names.every((name) => !standsForMany(vars[name]))) {
    yield vars;
    return;
  }
  const turn = lists.map(() => 0);
  for (;;) {
    yield Object.fromEntries(names.map((name, at) => [name, lists[at]?.[turn[at] ?? 0] ?? null]));
    let at = lists.length - 1;
    while (at >= 0 && (turn[at] ?? 0) + 1 >= (lists[at]?.length ?? 0)) {
      turn[at] = 0;
      at -= 1;
    }
    if (at < 0) return;
    turn[at] = (turn[at] ?? 0) + 1;
  }
}

/** How many combinations there are. */
export const combinationCount = (vars: JsonObject): number =>
  Object.values(vars).reduce<number>((product, value) => product * (standsForMany(value) ? value.length : 1), 1);
