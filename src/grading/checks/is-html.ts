import type { DefaultTreeAdapterTypes } from 'parse5';
import { type Check, verdict } from '../check.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Longer texts are not looked at. */
const longest = 10 * 1024 * 1024;

const elements = new Set(
  (
    'html head title base link meta style body article section nav aside h1 h2 h3 h4 h5 h6 header footer address p hr ' +
    'pre blockquote ol ul li dl dt dd figure figcaption main div a em strong small s cite q dfn abbr ruby rt rp data ' +
    'time code var samp kbd sub sup i b u mark bdi bdo span br wbr img iframe embed object param picture source video ' +
    'audio track map area svg math script noscript canvas ins del table caption colgroup col tbody thead tfoot tr td ' +
    'th form label input button select datalist optgroup option textarea output progress meter fieldset legend details ' +
    'summary dialog menu slot template'
  ).split(' '),
);
/** A parser puts these around everything; they count only when the author wrote them. */
const wrappers = new Set(['html', 'head', 'body']);

const isElement = (node: Node): node is Element => 'tagName' in node;

/** All elements in document order, without recursion: markup may be nested deeper than a call stack. */
function* elementsOf(root: Node): Generator<Element> {
  const stack: Node[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (isElement(node)) yield node;
    if ('childNodes' in node) for (const child of node.childNodes.toReversed()) stack.push(child);
  }
}

const wasWritten = (element: Element): boolean => element.sourceCodeLocation != null;
const isKnown = ({ tagName }: Element): boolean => elements.has(tagName) || tagName.includes('-');

/** What keeps a text from being HTML; undefined when nothing does. */
async function problemOf(text: string): Promise<string | undefined> {
  const trimmed = text.trim();
  if (trimmed === '') return 'The output is empty';
  if (trimmed.length > longest) return 'The output is too long to be read as HTML';
  if (/^<\?xml/i.test(trimmed)) return 'The output is XML, not HTML';
  const { parse } = await import('parse5');
  const all = [...elementsOf(parse(trimmed, { sourceCodeLocationInfo: true }))];
  const body = all.find((element) => element.tagName === 'body');
  const bare = body?.childNodes.some(
    (node) => node.nodeName === '#text' && 'value' in node && node.value.trim() !== '',
  );
  if (body !== undefined && !wasWritten(body) && bare) return 'The output has text outside of any HTML element';
  const hasMarkup = all.some((element) => (wrappers.has(element.tagName) ? wasWritten(element) : isKnown(element)));
  return hasMarkup ? undefined : 'The output has no HTML element';
}

/** `is-html`: the whole output is HTML. */
export const isHtml: Check = async ({ text, inverse }) => {
  const problem = await problemOf(text);
  return verdict((problem === undefined) !== inverse, problem ?? 'Expected output not to be HTML');
};
