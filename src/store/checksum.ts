/** Content hashes and row checksums of the store. */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

type Cell = string | number | null;

/** A row's checksum over its cells in column order; null, empty and neighbouring cells are told apart. */
export function rowChecksum(cells: readonly Cell[]): number {
  let text = '';
  for (const cell of cells) text += cell === null ? '\u0001' : `\u0002${cell}`;
  return crc32(text);
}

/** Content identity of a text: equal texts, equal name. */
export const contentHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 40);

/**
 * JSON with sorted keys and without undefined members: equal data gives equal text, whoever built it in whatever order.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    let text = '[';
    for (let at = 0; at < value.length; at++) text += (at === 0 ? '' : ',') + canonicalJson(value[at]);
    return `${text}]`;
  }
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}
