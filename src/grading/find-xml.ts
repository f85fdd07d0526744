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

/**
 * The outermost balanced elements of a text, and all neighbours together as one piece first (models often write several
 * elements side by side without a root).
 */
export function findXml(text: string): string[] {
  const open: Tag[] = [];
  const pieces: { start: number; end: number }[] = [];
  const keep = (start: number, end: number): void => {
    while ((pieces.at(-1)?.start ?? -1) > start) pieces.pop();
    pieces.push({ start, end });
  };
  for (const tag of tagsOf(text)) {
    if (tag.kind === 'both') keep(tag.start, tag.end);
    else if (tag.kind === 'opens') open.push(tag);
    else if (open.at(-1)?.name === tag.name) keep(open.pop()?.start ?? tag.start, tag.end);
    else open.length = 0;
  }
  const first = pieces[0];
  const last = pieces.at(-1);
  const together =
    first !== undefined && last !== undefined && first !== last ? [text.slice(first.start, last.end)] : [];
  return [...together, ...pieces.map(({ start, end }) => text.slice(start, end))];
}
