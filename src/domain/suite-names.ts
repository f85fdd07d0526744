import type { SuitePrompt, SuiteProvider } from './suite.ts';

const matches = (reference: string, names: readonly (string | undefined)[]): boolean =>
  names.some((name) => {
    if (name === undefined || name === '') return false;
    if (name === reference || name.startsWith(`${reference}:`)) return true;
    return reference.endsWith('*') && name.startsWith(reference.slice(0, -1));
  });

/** Whether a reference names a prompt: its label or id, `Group:*`, or the `Group` before its colon. */
export const matchesPrompt = (reference: string, prompt: SuitePrompt): boolean =>
  matches(reference, [prompt.label, prompt.id]);

/** Whether a reference names a provider, by the same rules. */
export const matchesProvider = (reference: string, provider: Pick<SuiteProvider, 'id' | 'label'>): boolean =>
  matches(reference, [provider.label, provider.id]);

/** Whether a list of references lets something through; no list lets everything through, an empty one nothing. */
export const isAllowed = <T>(
  item: T,
  references: readonly string[] | undefined,
  match: (reference: string, item: T) => boolean,
): boolean => references === undefined || references.some((reference) => match(reference, item));
