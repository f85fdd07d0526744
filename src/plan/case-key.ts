/**
 * A case's identity: a hash of what it is (provider without secrets, prompt, test, repeat), never of where it stands.
 * The same case has the same key in every run; equals are told apart by `#2`, `#3`, ... in the plan's order.
 */
import type { Json } from '../domain/json.ts';
import type { SuiteProvider } from '../domain/suite.ts';

const secret =
  /^(?:.*[_-])?(?:api[_-]?key|secret|password|passwd|authorization|bearer|credentials?|token|private[_-]?key|cookie)$|(?:apiKey|Secret|Password|Token|privateKey|accessKeyId|secretAccessKey)$/i;

/** Plain data with sorted keys and without secrets, so that equal things look equal. */
export function canonical(value: Json | undefined): Json {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map((item) => canonical(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, part]) => part !== undefined && !secret.test(key))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, canonical(part)]));
}

/** What of a provider makes a case another case. */
export const providerIdentity = (provider: SuiteProvider): Json =>
  canonical({
    id: provider.id,
    label: provider.label ?? null,
    config: provider.config ?? null,
    transform: provider.transform ?? null,
  });

/** Numbers equal keys in the order they come. */
export function keyCounter(): (key: string) => string {
  const seen = new Map<string, number>();
  return (key) => {
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? key : `${key}#${count}`;
  };
}
