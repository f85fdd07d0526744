import { type Dialect, SqlProblem, type Token } from './tokens.ts';

/** Words that end an expression or a name: they cannot be an alias or a column. */
const reserved = new Set(
  (
    'select from where group having order limit offset union intersect except on using join inner left right full cross natural ' +
    'outer set values into as and or not in is like between case when then else end exists distinct all by asc desc null ' +
    'returning window fetch for insert update delete create drop alter table with primary foreign references default'
  ).split(' '),
);

/** Everything a statement touches: `select::null::users` for tables, `select::users::name` for columns. */
export interface Touched {
  readonly tables: Set<string>;
  readonly columns: Set<string>;
  /** Names that a WITH gave: they are no tables of the database. */
  readonly common: Set<string>;
}

/** A place in the tokens, with the questions a parser asks. */
export class Cursor {
  readonly dialect: Dialect;
  readonly touched: Touched = { tables: new Set(), columns: new Set(), common: new Set() };
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], dialect: Dialect) {
    this.#tokens = tokens;
    this.dialect = dialect;
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] ?? { kind: 'end', text: 'the end' };
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  isWord(...words: readonly string[]): boolean {
    return words.every((word, ahead) => this.peek(ahead).kind === 'word' && this.peek(ahead).text === word);
  }

  isOneOf(words: readonly string[]): boolean {
    return this.peek().kind === 'word' && words.includes(this.peek().text);
  }

  isMark(mark: string): boolean {
    return this.peek().kind === 'mark' && this.peek().text === mark;
  }

  /** Takes these words when they come next. */
  takeWord(...words: readonly string[]): boolean {
    const there = this.isWord(...words);
    if (there) this.#at += words.length;
    return there;
  }

  takeOneOf(words: readonly string[]): boolean {
    const there = this.isOneOf(words);
    if (there) this.#at += 1;
    return there;
  }

  takeMark(mark: string): boolean {
    const there = this.isMark(mark);
    if (there) this.#at += 1;
    return there;
  }

  needWord(...words: readonly string[]): void {
    if (!this.takeWord(...words)) this.fail(`${words.join(' ').toUpperCase()} expected`);
  }

  needMark(mark: string): void {
    if (!this.takeMark(mark)) this.fail(`"${mark}" expected`);
  }

  /** A name that is not one of the language's own words. */
  isName(): boolean {
    const { kind, text } = this.peek();
    return kind === 'name' || (kind === 'word' && !reserved.has(text));
  }

  needName(): string {
    if (!this.isName()) this.fail('a name expected');
    return this.next().text;
  }

  /** Runs a rule one level deeper; SQL nested beyond reason is refused instead of ending the call stack. */
  deeper<T>(rule: () => T): T {
    this.#depth += 1;
    if (this.#depth > 200) this.fail('nested too deep');
    const result = rule();
    this.#depth -= 1;
    return result;
  }

  list(item: () => void): void {
    do item();
    while (this.takeMark(','));
  }

  fail(what: string): never {
    throw new SqlProblem(`${what} before "${this.peek().text}"`);
  }
}
