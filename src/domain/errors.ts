/**
 * An error that a person can act on: a stable `code`, structured `fields`, and a message that says what happened and
 * what to do. Expected failures are values; this is for bad input and broken surroundings.
 */
export class ParlaneError extends Error {
  readonly code: string;
  /** What happened, without the cure. */
  readonly what: string;
  /** What the person can do about it, one sentence. */
  readonly cure: string;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: string, what: string, cure: string, fields: Readonly<Record<string, unknown>> = {}) {
    const between = cure === '' || what.endsWith('\n') ? '' : ' ';
    super(`${what}${between}${cure}`);
    this.name = 'ParlaneError';
    this.code = code;
    this.what = what;
    this.cure = cure;
    this.fields = fields;
  }
}

/** Ends every `switch` over a union, so that a new member is a type error wherever it is not handled. */
export function assertNever(value: never): never {
  throw new ParlaneError(
    'bug/unhandled-case',
    `Unhandled case: ${JSON.stringify(value)}.`,
    'This is a bug in Parlane.',
  );
}
