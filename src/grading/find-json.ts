import { parse } from 'yaml';
import type { Json } from '../domain/json.ts';

/** Beyond this an opening brace is not taken for the start of an object. */
const longest = 100_000;

/** Where the braces that open at `start` close; the end of the text when they do not. */
function closingOf(text: string, start: number): { end: number; open: number } {
  const limit = Math.min(text.length, start + longest);
  let open = 0;
  for (let at = start; at < limit; at += 1) {
    if (text[at] === '{') open += 1;
    else if (text[at] === '}') open -= 1;
    if (open === 0) return { end: at + 1, open };
  }
  return { end: limit, open };
}

const isStructure = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** A YAML reader may end the whole process on text nested deeper than this by far. */
const deepest = 64;

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

/** Strict JSON first; then the slips models make: trailing commas, single quotes, bare keys, comments, a lost brace. */
function readLoosely(text: string): Json | undefined {
  try {
    const strict: unknown = JSON.parse(text);
    return isStructure(strict) ? strict : undefined;
  } catch {
    // Not strict JSON: a YAML reader takes most of what looks like it.
  }
  // A code fence or the like right after a bracket: a YAML reader would take it for a name.
  if (/[{,[:]\s*[`@%]/.test(text) || isTooDeep(text)) return undefined;
  try {
    const loose: unknown = parse(text.replace(/(^|[\s,{[])\/\/(?=\s)/g, '$1#'), {
      logLevel: 'error',
      maxAliasCount: 0,
    });
    return isStructure(loose) ? (JSON.parse(JSON.stringify(loose)) as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** How many characters are looked at in all, however often braces open: text of braces alone must not take forever. */
const patience = 2_000_000;

/** Every JSON object in a text, outermost ones, in order; code fences and prose around them do not matter. */
export function findJsonObjects(text: string): Json[] {
  const found: Json[] = [];
  let looked = 0;
  for (let at = text.indexOf('{'); at >= 0 && at < text.length - 1; at = text.indexOf('{', at)) {
    const { end, open } = closingOf(text, at);
    looked += end - at;
    if (looked > patience + text.length) break;
    const value = readLoosely(text.slice(at, end) + '}'.repeat(Math.max(0, open)));
    if (value === undefined) at += 1;
    else {
      found.push(value);
      at = end;
    }
  }
  return found;
}
