const element = /<(\/?)([A-Za-z_:\u00c0-\uffff][\w:.\-\u00b7-\uffff]*)((?:"[^"]*"|'[^']*'|[^<>"'])*)>/y;

/** What is not an element, by how it begins and how it ends. */
const asides: readonly (readonly [begins: string, ends: string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
];

interface Tag {
  readonly name: string;
  readonly kind: 'opens' | 'closes' | 'both';
  readonly start: number;
  readonly end: number;
}

/** Every tag in order; each character is looked at a bounded number of times. */
function* tagsOf(text: string): Generator<Tag> {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const aside = asides.find(([begins]) => text.startsWith(begins, at));
    if (aside !== undefined) {
      const end = text.indexOf(aside[1], at);
      if (end < 0) return;
      at = end + aside[1].length;
      continue;
    }
    element.lastIndex = at;
    const match = element.exec(text);
    if (match === null) {
      at += 1;
      continue;
    }
    const [whole, slash, name = '', rest = ''] = match;
    const kind = slash === '/' ? 'closes' : rest.trimEnd().endsWith('/') ? 'both' : 'opens';
    yield { name, kind, start: at, end: at + whole.length };
    at += whole.length;
  }
}

/** A stretch of a text that may be XML. */
export interface XmlPiece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Balanced {
  readonly start: number;
  readonly end: number;
  /** Where the tag around it begins, -1 for none. */
  readonly parent: number;
}

/** The outermost balanced elements; what is inside of another one is not told. */
function balancedElements(text: string): Balanced[] {
  const open: Tag[] = [];
  const found: Balanced[] = [];
  const keep = (start: number, end: number): void => {
    while ((found.at(-1)?.start ?? -1) > start) found.pop();
    found.push({ start, end, parent: open.at(-1)?.start ?? -1 });
  };
  for (const tag of tagsOf(text)) {
    if (tag.kind === 'both') keep(tag.start, tag.end);
    else if (tag.kind === 'opens') open.push(tag);
    else if (open.at(-1)?.name === tag.name) keep(open.pop()?.start ?? tag.start, tag.end);
    else open.length = 0;
  }
  return found;
}

/**
 * What may be XML in a text: elements side by side as one piece first (models often leave the root out), then each
 * element by itself.
 */
export function findXml(text: string): XmlPiece[] {
  const elements = balancedElements(text);
  const piece = (start: number, end: number): XmlPiece => ({ start, end, text: text.slice(start, end) });
  const groups = [...Map.groupBy(elements, ({ parent }) => parent).values()].filter((group) => group.length > 1);
  return [
    ...groups.map((group) => piece(group[0]?.start ?? 0, group.at(-1)?.end ?? 0)),
    ...elements.map(({ start, end }) => piece(start, end)),
  ];
}
