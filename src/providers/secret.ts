import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

/** What every secret looks like from outside. */
const mask = '***';

/**
 * A key as an opaque handle. Its job: to be carried through configs, logs, errors and inspections without showing.
 *
 * 1. However it is printed (`String`, `JSON.stringify`, `inspect`, template text), it prints as `***`.
 * 2. It is bound to one origin; asked for any other it gives nothing.
 * 3. Only the HTTP client asks, at the socket.
 */
export class Secret {
  readonly #value: string;
  readonly #origin: string;

  constructor(value: string, origin: string) {
    this.#value = value;
    this.#origin = origin;
  }

  /** The key itself, for the origin it is bound to; undefined for any other. */
  revealFor(origin: string): string | undefined {
    return origin === this.#origin ? this.#value : undefined;
  }

  /** One-way: names a rate-limit scope without showing the key. */
  fingerprint(): string {
    return oneWay(this.#value);
  }

  /** The text without this key, should a server have echoed it. Short keys are left alone: they are ordinary words. */
  removeFrom(text: string): string {
    return this.#value.length >= 12 && text.includes(this.#value) ? text.replaceAll(this.#value, mask) : text;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

/** Eleven characters of SHA-256: enough to tell scopes apart, useless to go back. */
export const oneWay = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 11);

/** A header value that holds a key: `Bearer ***`. */
export interface SecretHeader {
  readonly prefix: string;
  readonly secret: Secret;
}
