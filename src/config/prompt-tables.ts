/** Files that hold several prompts: text with separators, tables, one JSON per line. */
import { parse } from 'csv-parse/sync';
import type { SuitePrompt } from '../domain/suite.ts';
import type { PromptEntry } from './read-prompts.ts';

const configOf = (entry: PromptEntry): object => (entry.config === undefined ? {} : { config: entry.config });

/** Prompts between lines that hold nothing but the separator. */
export function textPrompts(text: string, file: string, label: string | undefined, separator: string): SuitePrompt[] {
  const parts: string[][] = [[]];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === separator) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts
    .map((lines) => lines.join('\n').trim())
    .filter((raw) => raw !== '')
    .map((raw) => ({ raw, label: label ? `${label}: ${file}: ${raw}` : `${file}: ${raw}` }));
}

function linePrompts(text: string, entry: PromptEntry): SuitePrompt[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const start = lines[0]?.toLowerCase().trim() === 'prompt' ? 1 : 0;
  return lines
    .slice(start)
    .map((raw, at) => ({ raw, label: entry.label || `Prompt ${at + 1} - ${raw}`, ...configOf(entry) }));
}

/** A table with a column `prompt` and maybe `label`, or simply one prompt per line. */
export function csvPrompts(text: string, entry: PromptEntry, delimiter: string): SuitePrompt[] {
  if (!text.includes(delimiter)) return linePrompts(text, entry);
  try {
    const options = { columns: true, bom: true, delimiter, relax_quotes: true, skip_empty_lines: true, trim: true };
    const records = parse(text, options) as unknown as Record<string, string>[];
    return records
      .filter((row) => row['prompt'])
      .map((row, at) => {
        const raw = row['prompt'] ?? '';
        return { raw, label: row['label'] || entry.label || `Prompt ${at + 1} - ${raw}`, ...configOf(entry) };
      });
  } catch {
    return linePrompts(text, entry);
  }
}

/** One prompt per line, each of them JSON. */
export function jsonlPrompts(text: string, file: string, entry: PromptEntry): SuitePrompt[] {
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  return lines.map((raw) => ({
    raw,
    label: lines.length > 1 ? `${entry.label || file}: ${raw}` : entry.label || file,
    ...configOf(entry),
  }));
}
