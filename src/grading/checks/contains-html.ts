import { type Check, verdict } from '../check.ts';

const longest = 10 * 1024 * 1024;

/** Signs of markup with their weight; two points make HTML, so that a stray `<` in prose does not. */
const signs: readonly (readonly [points: number, sign: RegExp])[] = [
  [1, /<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?>/],
  [1, /<\/[a-zA-Z][a-zA-Z0-9-]*\s*>/],
  [1, /<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?\/>/],
  [1, /&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);/],
  [2, /<!DOCTYPE\s+html/i],
  [1, /\s[a-zA-Z-]+=\s*["'][^"']*["']/],
  [
    2,
    /<(?:html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|meta|br|hr)\b/i,
  ],
];

function hasComment(text: string): boolean {
  const start = text.indexOf('<!--');
  return start >= 0 && text.includes('-->', start + 4);
}

/** `contains-html`: there is markup somewhere in the output. */
export const containsHtml: Check = ({ text, inverse }) => {
  const seen = text.length > longest ? [] : signs.filter(([, sign]) => sign.test(text));
  const points = seen.reduce((sum, [worth]) => sum + worth, hasComment(text) ? 1 : 0);
  return verdict(points >= 2 !== inverse, `Expected output ${inverse ? 'not ' : ''}to contain HTML`);
};
