import { isObject, type Json } from '../../domain/json.ts';
import { CheckProblem } from '../check.ts';

/** What a grader is asked for; one definition may name a provider for each. */
export type GraderKind = 'text' | 'embedding' | 'classification' | 'moderation';

/** Who grades when a config names nobody. */
export type DefaultGraders = Partial<Readonly<Record<GraderKind, string>>>;

/**
 * The name under which a provider definition is asked for through `effects.model`: its id when there is nothing more to
 * it, its label when it has one, else the definition itself as JSON, from which a run can make the provider.
 */
export function graderName(definition: Json): string {
  if (typeof definition === 'string') return definition;
  if (!isObject(definition) || typeof definition['id'] !== 'string') {
    throw new CheckProblem(`This is not a grader: ${JSON.stringify(definition)}; name a provider, or {id, config}`);
  }
  const { id, label, ...rest } = definition;
  if (Object.keys(rest).length === 0) return typeof label === 'string' ? label : id;
  return JSON.stringify(definition);
}

/** The definition for one kind: itself, or its entry in a map `{text, embedding, classification, moderation}`. */
function definitionFor(kind: GraderKind, definition: Json | undefined): Json | undefined {
  if (definition === undefined || definition === null || definition === '') return undefined;
  if (!isObject(definition)) return definition;
  const own = definition[kind];
  if (own !== undefined && own !== null) return definitionFor(kind, own);
  const isMap = typeof definition['id'] !== 'string';
  const kinds = ['text', 'embedding', 'classification', 'moderation'];
  return isMap && Object.keys(definition).some((key) => kinds.includes(key)) ? undefined : definition;
}

/** Who grades: the assertion's own provider, else the test's, else the default. Throws a CheckProblem when nobody does. */
export function resolveGrader(
  kind: GraderKind,
  candidates: readonly (Json | undefined)[],
  defaults: DefaultGraders,
): string {
  for (const candidate of candidates) {
    const definition = definitionFor(kind, candidate);
    if (definition !== undefined) return graderName(definition);
  }
  const fallback = defaults[kind];
  if (fallback !== undefined) return fallback;
  throw new CheckProblem(`No ${kind} model to grade with; set "provider" on the assertion or in defaultTest.options`);
}
