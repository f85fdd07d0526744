/** Names in providers and scenarios that lead nowhere. Tests are checked one by one as they are read. */
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import { matchesPrompt } from '../domain/suite-names.ts';
import { didYouMean } from '../prompts/nearest-name.ts';
import type { SourceDocument } from '../prompts/source-document.ts';

/** Providers that ask for prompts nobody wrote. */
export function checkReferences(suite: Suite, document: SourceDocument | undefined): Problem[] {
  if (document === undefined) return [];
  return suite.providers.flatMap((provider, at) =>
    (provider.prompts ?? [])
      .filter((reference) => !suite.prompts.some((prompt) => matchesPrompt(reference, prompt)))
      .map((reference): Problem => {
        const labels = suite.prompts.map((prompt) => prompt.label);
        const message = `provider ${provider.name} asks for the prompt "${reference}", which does not exist`;
        const hint = didYouMean(reference, labels);
        return { ...document.at(['providers', at, 'prompts'], message, hint), severity: 'warning' };
      }),
  );
}
