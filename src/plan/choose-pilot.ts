/**
 * Which cases a pilot runs: so many in total, dealt to the columns in turn, so that every lane is heard of, and spread
 * over each column, since what stands together in a plan is often alike.
 */
export function choosePilot<T>(columns: readonly (readonly T[])[], count: number): T[] {
  const dealt = columns.map(() => 0);
  const room = columns.reduce((sum, { length }) => sum + length, 0);
  for (let left = Math.min(count, room); left > 0; ) {
    columns.forEach((column, at) => {
      const own = dealt[at] ?? 0;
      if (left === 0 || own >= column.length) return;
      dealt[at] = own + 1;
      left -= 1;
    });
  }
  return columns.flatMap((column, at) => spread(column, dealt[at] ?? 0));
}

/** The middles of equal stretches. */
const spread = <T>(list: readonly T[], count: number): T[] => {
  const places = new Set(Array.from({ length: count }, (_, at) => Math.floor(((at + 0.5) / count) * list.length)));
  return list.filter((_, at) => places.has(at));
};
