/** Puts the contents of `file://` references into a value: data as data, other files as text, code left to its users. */

import { parse } from 'csv-parse/sync';
import { isObject, type Json } from '../domain/json.ts';
import { isPattern } from './config-files.ts';
import { absolute, fileReference, isCode } from './file-reference.ts';
import { type Loading, readSource } from './loading.ts';

type Fault = (message: string) => void;

/** One column is a list of its cells, more are a list of rows. */
function csvData(text: string): Json {
  const records = parse(text, { columns: true, bom: true }) as Record<string, string>[];
  const [first] = records;
  const single = first !== undefined && Object.keys(first).length === 1;
  return single ? records.map((record) => Object.values(record)[0] ?? '') : records;
}

async function contents(path: string, loading: Loading, fault: Fault): Promise<Json | undefined> {
  if (/\.(?:ya?ml|json)$/.test(path)) {
    const document = await readSource(path, loading);
    if (document === undefined) fault(`there is no file ${loading.shown(path)}`);
    return document?.value ?? null;
  }
  const text = await loading.files.read(path);
  if (text === undefined) {
    fault(`there is no file ${loading.shown(path)}`);
    return undefined;
  }
  return path.endsWith('.csv') ? csvData(text) : text;
}

/** What a `file://` reference holds. A pattern gives the contents of all its files as one list. */
export async function loadReference(
  text: string,
  folder: string,
  loading: Loading,
  fault: Fault,
): Promise<Json | undefined> {
  const path = absolute(fileReference(text).path, folder);
  if (!isPattern(path) || (await loading.files.kind(path)) !== undefined) return contents(path, loading, fault);
  const found = await loading.files.glob(path, folder);
  if (found.length === 0) fault(`no file matches ${loading.shown(path)}`);
  const parts: Json[] = [];
  for (const file of found) {
    const part = await contents(file, loading, fault);
    if (Array.isArray(part)) parts.push(...part);
    else if (part !== undefined && part !== null) parts.push(part);
  }
  return parts;
}

/** Every reference in a value. Vars keep theirs: they are loaded when the prompt is rendered. */
export async function loadReferences(value: Json, folder: string, loading: Loading, fault: Fault): Promise<Json> {
  if (typeof value === 'string') {
    if (!value.startsWith('file://') || isCode(fileReference(value).path)) return value;
    return (await loadReference(value, folder, loading, fault)) ?? value;
  }
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(await loadReferences(item, folder, loading, fault));
    return items;
  }
  if (!isObject(value)) return value;
  const parts: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) {
    parts.push([key, key === 'vars' ? item : await loadReferences(item, folder, loading, fault)]);
  }
  return Object.fromEntries(parts);
}
