import type { Json } from '../../domain/json.ts';
import { type CheckInput, CheckProblem, demand } from '../check.ts';
import { transformContext } from '../code-context.ts';
import { runTransform } from '../user-code.ts';

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item !== '');

async function transformed(transform: string, input: CheckInput): Promise<unknown> {
  const { subject, output, ports, baseDir, effects } = input;
  const from = subject.providerOutput ?? output;
  const outcome = await runTransform(transform, from, transformContext(subject), {
    baseDir,
    code: ports.code,
    signal: effects.signal,
  });
  if (outcome.kind !== 'returned') throw new CheckProblem(`contextTransform failed: ${outcome.message}`);
  return outcome.value;
}

/** What was retrieved: from `contextTransform`, the variable `context`, or the fallback; a text or a list of chunks. */
export async function retrievedContext(input: CheckInput, fallback?: string): Promise<string | readonly string[]> {
  const transform = input.assertion['contextTransform'];
  const given: Json | undefined = input.subject.vars['context'] ?? fallback;
  const context = typeof transform === 'string' ? await transformed(transform, input) : given;
  demand(
    (typeof context === 'string' && context !== '') || isTexts(context),
    `"${input.type}" needs the context: a variable "context" (text or list of texts), or "contextTransform"`,
  );
  return context;
}

export const joinContext = (context: string | readonly string[]): string =>
  typeof context === 'string' ? context : context.join('\n\n');
