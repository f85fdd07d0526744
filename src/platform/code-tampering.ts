/** The objects that every script shares; a change to one of them reaches all later calls in the same process. */
const shared = (): readonly object[] => [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  Function.prototype,
  RegExp.prototype,
  Date.prototype,
  Map.prototype,
  Set.prototype,
  Promise.prototype,
  Error.prototype,
  Object,
  Array,
  String,
  Number,
  Promise,
  JSON,
  Math,
  Reflect,
  Date,
];

const valuesOf = (holder: object): readonly unknown[] =>
  Reflect.ownKeys(holder).map((key) => {
    const property = Reflect.getOwnPropertyDescriptor(holder, key);
    return property?.value ?? property?.get;
  });

/** Remembers the language's own objects as they are now; the returned function says whether they still are. */
export function fingerprint(): () => boolean {
  const holders = shared();
  const before = holders.map(valuesOf);
  // The date and regex statics that change by themselves ($1, lastMatch) live on RegExp itself, which is not watched.
  return () =>
    holders.every((holder, at) => {
      const now = valuesOf(holder);
      const then = before[at] ?? [];
      return now.length === then.length && now.every((value, position) => Object.is(value, then[position]));
    });
}
