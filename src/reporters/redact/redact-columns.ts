import type { Column } from '../../domain/case.ts';

/** Enough of a prompt's beginning to know it again in a label. */
const beginning = 20;
const absolutePath = /(?:^|[\s:])(?:file:|[/\\]|[A-Za-z]:[/\\])/;

/** Whether a prompt's label is a name that somebody gave it, and not made of its text or its file. */
export function isPromptName(label: string, template: string): boolean {
  const [named, text] = [label, template].map((each) => each.replace(/\s+/g, ' ').trim()) as [string, string];
  const made = named.includes(text.slice(0, beginning)) || text.startsWith(named);
  return !made && !label.includes('\n') && !absolutePath.test(label);
}

/** Columns without what people wrote: prompts are called by their names, else by number, equal ones alike. */
export function redactColumns(columns: readonly Column[], isNamed: (column: Column) => boolean): Column[] {
  const numbers = new Map<string, string>();
  return columns.map((column) => {
    if (isNamed(column)) return column;
    const prompt = numbers.get(column.prompt) ?? `prompt ${numbers.size + 1}`;
    numbers.set(column.prompt, prompt);
    return { ...column, prompt };
  });
}
