/**
 * Turns what user code returned into plain data: what `JSON.stringify` would keep, except that a bare `undefined`, `NaN`
 * or infinity stays itself, and functions may be kept as names.
 */
export function plainData(value: unknown, nameOf: (path: readonly string[]) => string | undefined): unknown {
  const open = new Set<object>();
  const visit = (item: unknown, path: readonly string[]): unknown => {
    if (typeof item === 'function') return nameOf(path);
    if (typeof item === 'bigint') return String(item);
    if (typeof item === 'symbol') return undefined;
    if (typeof item !== 'object' || item === null) return item;
    if (open.has(item)) throw new TypeError('the returned value refers to itself');
    if (path.length > 200) throw new TypeError('the returned value is nested too deep');
    const toJson = (item as { toJSON?: unknown }).toJSON;
    if (typeof toJson === 'function') return visit(toJson.call(item, path.at(-1) ?? ''), path);
    open.add(item);
    const result = Array.isArray(item)
      ? Array.from(item, (part, at) => visit(part, [...path, String(at)]) ?? null)
      : Object.fromEntries(
          Object.entries(item)
            .map(([key, part]) => [key, visit(part, [...path, key])] as const)
            .filter(([, part]) => part !== undefined),
        );
    open.delete(item);
    return result;
  };
  return visit(value, []);
}
