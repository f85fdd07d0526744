import nunjucks from 'nunjucks';
import type { Json } from '../domain/json.ts';

type Env = Readonly<Record<string, string | undefined>>;

const anyTemplate = /\{\{(?:[^}]|\}(?!\}))*\}\}/g;
const readsEnv = /\benv\.|env\[/;
const namedVariable = /env\.(\w+)|env\[['"]([^'"]+)['"]\]/;

function renderOne(template: string, env: Env, engine: nunjucks.Environment): string {
  if (!readsEnv.test(template)) return template;
  const found = namedVariable.exec(template);
  const name = found?.[1] ?? found?.[2];
  const known = name !== undefined && Object.hasOwn(env, name) && env[name] !== undefined;
  if (!known && !template.includes('|')) return template;
  try {
    return engine.renderString(template, { env });
  } catch {
    return template;
  }
}

/** Puts environment values into `{{ env.X }}` anywhere in a value and leaves every other template alone. */
export function renderEnvironment<T extends Json>(value: T, env: Env): T {
  const engine = new nunjucks.Environment(null, { autoescape: false });
  const visit = (item: Json): Json => {
    if (typeof item === 'string') return item.replace(anyTemplate, (match) => renderOne(match, env, engine));
    if (Array.isArray(item)) return item.map(visit);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(
      Object.entries(item).map(([key, part]) => [key, key === '_conversation' ? part : visit(part)]),
    );
  };
  return visit(value) as T;
}
