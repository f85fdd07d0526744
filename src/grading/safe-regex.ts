/**
 * Its job: to tell whether a pattern written for JavaScript's RegExp matches a text, without ever letting the pattern
 * stop the process.
 * Not its job: deciding what a match means.
 * 1. The answer is the one RegExp would give.
 * 2. In this process only patterns run that take time linear in the text: those without repetition, and those that a
 *    backtracking-free engine can run with the same meaning.
 * 3. Everything else runs outside, for at most a second.
 */
import type { CodeRunner } from '../domain/code-runner.ts';

const outsideLimitMs = 1000;

export type MatchOutcome =
  | { readonly kind: 'matched'; readonly found: boolean }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'broke'; readonly message: string };

const matched = (found: boolean): MatchOutcome => ({ kind: 'matched', found });

/** Escapes that mean the same to both engines. */
const sameEscape = /[dDwWbBtnrfv]|[^A-Za-z0-9]/;
/** What `\s` stands for in JavaScript; the other engine knows the ASCII ones only. */
const spaces = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const notLineEnd = '[^\\n\\r\\x{2028}\\x{2029}]';

/** The pattern in the other engine's words, or undefined when it cannot say the same. */
export function translatePattern(pattern: string): string | undefined {
  let out = '';
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? '';
    if (char === '\\') {
      const next = pattern[at + 1] ?? '';
      at += 1;
      if (next === 's') out += inClass ? spaces : `[${spaces}]`;
      else if (next === 'S' && !inClass) out += `[^${spaces}]`;
      else if (next === 'x' && /^[0-9a-fA-F]{2}/.test(pattern.slice(at + 1))) out += '\\x';
      else if (sameEscape.test(next)) out += inClass && next === 'b' ? '\\x08' : `\\${next}`;
      else return undefined;
    } else if (inClass) {
      if (char === '[') out += '\\[';
      else out += char;
      if (char === ']') inClass = false;
    } else if (char === '[') {
      if (/^\[\^?\]/.test(pattern.slice(at))) return undefined;
      inClass = true;
      out += char;
      if (pattern[at + 1] === '^') {
        out += '^';
        at += 1;
      }
    } else if (char === '(' && pattern[at + 1] === '?' && pattern[at + 2] !== ':') return undefined;
    else if (char === '.') out += notLineEnd;
    else out += char;
  }
  return out;
}

const isAstral = (text: string): boolean => /[\ud800-\udfff]/.test(text);
const repeats = /[*+?{]/;
const refersBack = /\\[1-9k]/;

async function linearMatch(pattern: string, text: string): Promise<boolean | undefined> {
  // Both engines agree on text whose every character is one unit long; beyond that they count differently.
  if (isAstral(text) || isAstral(pattern)) return undefined;
  const translated = translatePattern(pattern);
  if (translated === undefined) return undefined;
  try {
    const { RE2JS } = await import('re2js');
    return RE2JS.compile(translated).matcher(text).find();
  } catch {
    return undefined;
  }
}

/** Whether the pattern is found in the text. */
export async function findPattern(
  pattern: string,
  text: string,
  code: CodeRunner,
  signal: AbortSignal,
): Promise<MatchOutcome> {
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern);
  } catch (error) {
    return { kind: 'invalid', message: error instanceof Error ? error.message : String(error) };
  }
  if (!repeats.test(pattern) && !refersBack.test(pattern)) return matched(compiled.test(text));
  const linear = await linearMatch(pattern, text);
  if (linear !== undefined) return matched(linear);
  const outcome = await code.run(
    {
      code: {
        kind: 'inline',
        language: 'javascript',
        body: 'return new RegExp(pattern).test(text);',
        parameters: ['pattern', 'text'],
      },
      args: [pattern, text],
      timeoutMs: outsideLimitMs,
    },
    { signal },
  );
  if (outcome.kind === 'returned') return matched(outcome.value === true);
  return { kind: 'broke', message: outcome.message };
}
