/**
 * Comma-separated values (RFC 4180) from text that arrives in pieces, row by row, with the line each row ends on.
 * Strict: a quote stands around a whole field or is doubled inside one. Relaxed: a quote elsewhere is text.
 */
export interface CsvDialect {
  readonly delimiter: string;
  readonly relaxed: boolean;
}

export interface CsvRow {
  readonly fields: readonly string[];
  /** The line it ends on, from 1. */
  readonly line: number;
}

/** What keeps a table from being read, and where. */
export class CsvFault extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

const longestRow = 16 * 1024 * 1024;

class RowReader {
  readonly #dialect: CsvDialect;
  #rest = '';
  #line = 1;

  constructor(dialect: CsvDialect) {
    this.#dialect = dialect;
  }

  /** All rows that are whole once this text has arrived. */
  *take(text: string, last: boolean): Generator<CsvRow> {
    this.#rest += text;
    let from = 0;
    while (from < this.#rest.length) {
      const row = this.#row(from, last);
      if (row === undefined) break;
      from = row.next;
      yield { fields: row.fields, line: row.line };
    }
    this.#rest = this.#rest.slice(from);
    if (this.#rest.length > longestRow) throw new CsvFault('a row is longer than 16 MB', this.#line);
  }

  /** The row that starts at a place, or undefined when its end has not arrived yet. */
  #row(from: number, last: boolean): { fields: string[]; line: number; next: number } | undefined {
    const text = this.#rest;
    const fields: string[] = [];
    let line = this.#line;
    let at = from;
    for (;;) {
      const field = text[at] === '"' ? this.#quoted(at, line, last) : this.#bare(at, line, last);
      if (field === undefined) return undefined;
      fields.push(field.value);
      line += field.lines;
      at = field.next;
      if (text.startsWith(this.#dialect.delimiter, at)) {
        at += this.#dialect.delimiter.length;
        if (at >= text.length && !last) return undefined;
        continue;
      }
      if (text[at] === '\r' && at + 1 >= text.length && !last) return undefined;
      this.#line = line + 1;
      return { fields, line, next: at + (text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1) };
    }
  }

  #bare(from: number, line: number, last: boolean): { value: string; next: number; lines: number } | undefined {
    const text = this.#rest;
    const { delimiter, relaxed } = this.#dialect;
    const first = delimiter.charCodeAt(0);
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (
        code === 10 ||
        code === 13 ||
        (code === first && (delimiter.length === 1 || text.startsWith(delimiter, at)))
      ) {
        return { value: text.slice(from, at), next: at, lines: 0 };
      }
      if (code === 34 && !relaxed)
        throw new CsvFault('a quote stands inside a field that does not start with one', line);
    }
    return last ? { value: text.slice(from), next: text.length, lines: 0 } : undefined;
  }

  #quoted(from: number, line: number, last: boolean): { value: string; next: number; lines: number } | undefined {
    const text = this.#rest;
    let value = '';
    let lines = 0;
    let start = from + 1;
    for (;;) {
      const quote = text.indexOf('"', start);
      if (quote < 0 || (quote + 1 >= text.length && !last)) {
        if (!last) return undefined;
        throw new CsvFault('a quote is never closed', line);
      }
      const piece = text.slice(start, quote);
      lines += piece.length === 0 ? 0 : newlines(piece);
      value += piece;
      const next = text[quote + 1];
      if (next === '"') value += '"';
      else if (
        next === undefined ||
        next === '\n' ||
        next === '\r' ||
        text.startsWith(this.#dialect.delimiter, quote + 1)
      ) {
        return { value, next: quote + 1, lines };
      } else if (!this.#dialect.relaxed) throw new CsvFault('text follows a closing quote', line + lines);
      else value += '"';
      start = quote + (next === '"' ? 2 : 1);
    }
  }
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The rows of a table with its head: every row has as many fields as the head. */
export async function* csvRows(
  pieces: AsyncIterable<string>,
  dialect: CsvDialect,
): AsyncGenerator<readonly { readonly record: Record<string, string>; readonly line: number }[]> {
  const reader = new RowReader(dialect);
  let head: readonly string[] | undefined;
  let begun = false;
  const batch = (rows: Iterable<CsvRow>): { record: Record<string, string>; line: number }[] => {
    const records: { record: Record<string, string>; line: number }[] = [];
    for (const { fields, line } of rows) {
      if (head === undefined) head = fields;
      else records.push({ record: recordOf(head, fields, line), line });
    }
    return records;
  };
  for await (const piece of pieces) {
    const text = begun ? piece : piece.replace(/^\uFEFF/, '');
    begun = true;
    yield batch(reader.take(text, false));
  }
  yield batch(reader.take('', true));
}

function recordOf(head: readonly string[], fields: readonly string[], line: number): Record<string, string> {
  if (fields.length !== head.length) {
    throw new CsvFault(`this row has ${fields.length} fields, the head has ${head.length}`, line);
  }
  const record: Record<string, string> = {};
  for (const [at, name] of head.entries()) {
    if (name === '__proto__') Object.defineProperty(record, name, { value: fields[at], enumerable: true });
    else record[name] = fields[at] ?? '';
  }
  return record;
}
