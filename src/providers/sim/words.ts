/** Small knowledge of language for simulated models: enough to pick tools and sentences, not enough to be wrong loudly. */

const stopWords = new Set(
  (
    'a an the and or but if then of to in on at for from with by as is are was were be been being am do does did have has had ' +
    'i you he she it we they me him her us them my your his its our their this that these those there here what which who ' +
    'when where why how can could will would shall should may might must not no yes please so too very just also any some ' +
    'all each one about into out up down over than only own same it s t don now'
  ).split(' '),
);

/** `cartons` and `carton`, `delivered` and `delivery` meet at their stem. */
export const stem = (word: string): string =>
  word.length <= 4 ? word.replace(/s$/, '') : word.replace(/(?:ies|ied|ing|ery|ed|es|er|ly|e|s|y)$/, '');

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}'-]*/gu;

/** The words of a text that carry meaning, as stems. */
export function contentWords(text: string): string[] {
  const words = text.replaceAll('_', ' ').toLowerCase().match(wordPattern) ?? [];
  return words.filter((word) => !stopWords.has(word) && word.length > 1).map(stem);
}

/** How many of the first text's meaningful words the second one holds, 0 to 1. */
export function coverage(of: string, by: string): number {
  const wanted = new Set(contentWords(of));
  if (wanted.size === 0) return 0;
  return wanted.intersection(new Set(contentWords(by))).size / wanted.size;
}

/** How many meaningful words two texts share. */
export const shared = (one: string, other: string): number =>
  new Set(contentWords(one)).intersection(new Set(contentWords(other))).size;

export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');

const numberWords: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  dozen: 12,
};

/** `two`, `2` or `a`; undefined when it is no number. */
export const numberOf = (word: string): number | undefined =>
  /^\d+(?:\.\d+)?$/.test(word) ? Number(word) : numberWords[word.toLowerCase()];

/** One thing somebody wants: `two cartons of oat milk`. */
export interface Wish {
  readonly quantity: number;
  readonly name: string;
  readonly text: string;
}

const opener =
  /^(?:hello|hi|hey|good (?:morning|afternoon|evening)|yes|well|okay|ok|and|also|then|please|i(?:'d| would) like(?: to (?:order|buy|have|get|add))?|i (?:want|need)(?: to (?:order|buy|have|get|add))?|can i (?:have|get)|could i (?:have|get)|to (?:order|buy|get))\b[\s,.!:]*/iu;
const unit =
  /^(?:cartons?|bottles?|packs?|packets?|bags?|boxes|box|kilos?|kilograms?|kg|loaf|loaves|pieces?|cans?|tins?|jars?|units?) of /iu;

function withoutOpeners(text: string): string {
  let rest = text.trim();
  for (let next = rest.replace(opener, ''); next !== rest; next = rest.replace(opener, '')) rest = next.trim();
  return rest;
}

/** The wishes in a sentence: parts between commas and `and` that begin with a quantity. */
export function wishesOf(text: string): Wish[] {
  const wishes: Wish[] = [];
  for (const sentence of sentencesOf(text)) {
    for (const part of sentence.split(/,|;|\band\b|\bplus\b/iu)) {
      const rest = withoutOpeners(part.replace(/[.!?]+$/, ''));
      const [first = '', ...others] = rest.split(/\s+/);
      const quantity = numberOf(first);
      const name = others
        .join(' ')
        .replace(unit, '')
        .replace(/\b(?:please|delivered?|for|to)\b.*$/iu, '')
        .trim();
      if (quantity !== undefined && name !== '' && name.split(' ').length <= 4)
        wishes.push({ quantity, name, text: rest });
    }
  }
  return wishes;
}

/** Things like `A-1007`, `S-0`, `ORD12345`. */
export const codesIn = (text: string): string[] => [...new Set(text.match(/\b[A-Z]{1,5}(?:-\d+|\d{2,})\b/g) ?? [])];
