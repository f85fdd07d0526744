import { CheckProblem } from './check.ts';

const quoted = /\s*"((?:\\["\\]|""|[^"])*)("?)\s*/y;
const plain = /[^,]*/y;

/**
 * Splits `a, "b, with comma", c` at commas. A field may be quoted: `""`, `\"` and `\\` stand for themselves inside.
 * Empty fields fall away.
 */
export function splitList(text: string): string[] {
  const fields: string[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.slice(at).search(/[^\s,]/);
    if (start < 0) break;
    at += start;
    if (text[at] === '"') {
      quoted.lastIndex = at;
      const match = quoted.exec(text);
      if (match === null || match[2] !== '"') throw new CheckProblem('A quoted item in the value is not closed');
      fields.push((match[1] ?? '').replace(/\\(["\\])|""/g, (_, escaped: string | undefined) => escaped ?? '"'));
      at = quoted.lastIndex;
      if (at < text.length && text[at] !== ',')
        throw new CheckProblem('A comma must follow a quoted item in the value');
    } else {
      plain.lastIndex = at;
      fields.push((plain.exec(text)?.[0] ?? '').trim());
      at = plain.lastIndex;
    }
  }
  return fields;
}
