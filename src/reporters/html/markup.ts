/** Text on its way into the report: as text, never as markup. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For element contents and quoted attributes alike. */
export const html = (text: string | number): string =>
  String(text)
    .replace(/[&<>"']/g, (character) => entities[character] ?? character)
    .replaceAll('\u0000', '\ufffd');

/** JSON for a data block: no `<` survives, so nothing inside can end the block or begin a comment. */
export const dataJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** Cut for a table cell; the whole text stands in the details. */
export const excerpt = (text: string, length: number): string => {
  const line = text
    .slice(0, length * 4)
    .replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
    .trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
};
