/** FNV-1a over UTF-16 units, 32 bit: makes a seed out of a text. Not for secrets. */
export function hashText(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
