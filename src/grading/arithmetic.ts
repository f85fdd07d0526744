/**
 * Evaluates the formulas of derived metrics: numbers, names, `+ - * / % ^`, comparisons, `a ? b : c`, brackets and a few
 * functions. Nothing else, so a formula can do no harm.
 */

export class FormulaProblem extends Error {}

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  exp: Math.exp,
  floor: Math.floor,
  log: (value, base) => (base === undefined ? Math.log(value) : Math.log(value) / Math.log(base)),
  log10: Math.log10,
  log2: Math.log2,
  max: Math.max,
  mean: (...values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: Math.min,
  mod: (value, by) => value - (by ?? 1) * Math.floor(value / (by ?? 1)),
  pow: (value, power) => value ** (power ?? 1),
  round: (value, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits,
  sqrt: Math.sqrt,
  sum: (...values) => values.reduce((sum, value) => sum + value, 0),
};
const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

const truth = (value: boolean): number => (value ? 1 : 0);
const comparisons: Readonly<Record<string, (a: number, b: number) => number>> = {
  '==': (a, b) => truth(a === b),
  '!=': (a, b) => truth(a !== b),
  '<=': (a, b) => truth(a <= b),
  '>=': (a, b) => truth(a >= b),
  '<': (a, b) => truth(a < b),
  '>': (a, b) => truth(a > b),
};

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const token = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_][\w]*)|(==|!=|<=|>=|[-+*/%^()?:,<>]))/y;

function tokensOf(formula: string): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  const end = formula.trimEnd().length;
  let at = 0;
  while (at < end) {
    token.lastIndex = at;
    const match = token.exec(formula);
    if (match === null)
      throw new FormulaProblem(`Unexpected "${formula.slice(at).trim().slice(0, 10)}" in "${formula}"`);
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
    at = token.lastIndex;
  }
  return tokens;
}

class Reader {
  readonly #tokens: readonly string[];
  readonly #values: Readonly<Record<string, number>>;
  #at = 0;

  constructor(tokens: readonly string[], values: Readonly<Record<string, number>>) {
    this.#tokens = tokens;
    this.#values = values;
  }

  get #next(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(wanted: string): boolean {
    const there = this.#next === wanted;
    if (there) this.#at += 1;
    return there;
  }

  #need(wanted: string): void {
    if (!this.#take(wanted)) throw new FormulaProblem(`"${wanted}" expected, found "${this.#next ?? 'the end'}"`);
  }

  whole(): number {
    const value = this.#choice();
    if (this.#next !== undefined) throw new FormulaProblem(`Unexpected "${this.#next}"`);
    return value;
  }

  #choice(): number {
    const condition = this.#comparison();
    if (!this.#take('?')) return condition;
    const yes = this.#choice();
    this.#need(':');
    const no = this.#choice();
    return condition !== 0 ? yes : no;
  }

  #comparison(): number {
    const left = this.#sum();
    const compare = own(comparisons, this.#next ?? '');
    if (compare === undefined) return left;
    this.#at += 1;
    return compare(left, this.#sum());
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take('+')) value += this.#product();
      else if (this.#take('-')) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#take('*')) value *= this.#signed();
      else if (this.#take('/')) value /= this.#signed();
      else if (this.#take('%')) value %= this.#signed();
      else return value;
    }
  }

  #signed(): number {
    if (this.#take('-')) return -this.#signed();
    if (this.#take('+')) return this.#signed();
    const base = this.#atom();
    return this.#take('^') ? base ** this.#signed() : base;
  }

  #atom(): number {
    if (this.#take('(')) {
      const value = this.#choice();
      this.#need(')');
      return value;
    }
    const word = this.#next;
    if (word === undefined) throw new FormulaProblem('A value is missing at the end');
    this.#at += 1;
    if (/^[\d.]/.test(word)) return Number(word);
    if (this.#take('(')) return this.#call(word);
    const value = own(this.#values, word) ?? own(constants, word);
    if (value === undefined) throw new FormulaProblem(`There is no metric "${word}"`);
    return value;
  }

  #call(name: string): number {
    const call = own(functions, name);
    if (call === undefined) throw new FormulaProblem(`There is no function "${name}"`);
    const values = this.#take(')') ? [] : this.#arguments();
    return call(...values);
  }

  #arguments(): number[] {
    const values = [this.#choice()];
    while (this.#take(',')) values.push(this.#choice());
    this.#need(')');
    return values;
  }
}

/** The formula's value; throws a FormulaProblem when it is not a formula over these names. */
export const evaluateFormula = (formula: string, values: Readonly<Record<string, number>>): number =>
  new Reader(tokensOf(formula), values).whole();
