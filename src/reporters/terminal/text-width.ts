import stringWidth from 'string-width';

/** Text in a terminal: what it is allowed to contain, and how many columns it takes. */

const plainAscii = /^[\x20-\x7e]*$/;
/** CSI, OSC, DCS and friends with their contents, then single escapes. */
const escapes =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;
/** Other control characters, and those that turn the writing direction around. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/g;

/** Foreign text on one line, unable to steer the terminal. */
export function singleLine(text: string): string {
  if (plainAscii.test(text)) return text;
  return text.replace(escapes, '').replace(controls, ' ').trimEnd();
}

/** Foreign text with its line breaks kept and everything else that steers a terminal removed. */
export function safeLines(text: string): string[] {
  return text
    .replace(escapes, '')
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(singleLine);
}

/** Columns that a text without escapes takes: wide characters count two, joined emoji once. */
export const textWidth = (text: string): number => (plainAscii.test(text) ? text.length : stringWidth(text));

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text cut to a width, with `…` where something is missing. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 1) return width === 1 ? '…' : '';
  if (plainAscii.test(text)) return `${text.slice(0, width - 1)}…`;
  let used = 0;
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    const wide = textWidth(segment);
    if (used + wide > width - 1) break;
    used += wide;
    kept += segment;
  }
  return `${kept}…`;
}

/** Cut and filled up to exactly this width. */
export function fill(text: string, width: number): string {
  const short = cut(text, width);
  return short + ' '.repeat(Math.max(0, width - textWidth(short)));
}

/** As `fill`, with the text at the right. */
export function fillLeft(text: string, width: number): string {
  const short = cut(text, width);
  return ' '.repeat(Math.max(0, width - textWidth(short))) + short;
}

/** Broken at spaces into lines of at most this width; a longer word is broken inside. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of safeLines(text)) lines.push(...wrapParagraph(paragraph, Math.max(1, width)));
  return lines;
}

function wrapParagraph(paragraph: string, width: number): string[] {
  if (textWidth(paragraph) <= width) return [paragraph];
  const lines: string[] = [];
  let line = '';
  for (const word of paragraph.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (textWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = breakWord(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
  }
  lines.push(line);
  return lines;
}

function breakWord(word: string, width: number): string[] {
  if (textWidth(word) <= width) return [word];
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment: whole } of segmenter.segment(word)) {
    const segment = cut(whole, width);
    const wide = textWidth(segment);
    if (used + wide > width && piece !== '') {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += segment;
    used += wide;
  }
  pieces.push(piece);
  return pieces;
}

const styled = /\u001b\[[0-9;]*m/g;

/** Width of one of our own lines, styles not counted. */
export const styledWidth = (line: string): number =>
  textWidth(line.includes('\u001b') ? line.replace(styled, '') : line);

/** The last guard before the screen: a line of ours, styles kept, never wider than the terminal. */
export function clamp(line: string, width: number): string {
  if (line.length <= width || styledWidth(line) <= width) return line;
  let used = 0;
  let kept = '';
  for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
    if (part.startsWith('\u001b')) {
      kept += part;
      continue;
    }
    const short = cut(part, Math.max(0, width - used));
    used += textWidth(short);
    kept += short;
  }
  return kept;
}
