/**
 * Job: keep a request's history as a chain of messages, so that a conversation of 60 turns stores each message once.
 * Requests that have a `messages` list (at `request.messages`) are split into the chain's end and the rest.
 */
import type { Json } from '../domain/json.ts';
import { canonicalJson, contentHash } from './checksum.ts';

/** One message of a chain; `written` once the store has been given it, and then without its text. */
export interface ChainNode {
  readonly parent: string;
  readonly hash: string;
  body: string;
  written: boolean;
}

/** A request in the form in which it is stored and compared. */
export interface EncodedRequest {
  readonly hash: string;
  /** Canonical text of everything but the history. */
  readonly rest: string;
  /** Name of the last message; empty when there is no history. */
  readonly history: string;
  /** Messages of the history that the store may not have yet. */
  readonly unwritten: readonly ChainNode[];
}

type Fields = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class RequestEncoder {
  /** Messages seen before under their parent: the same object is neither written out nor hashed again. */
  readonly #known = new WeakMap<object, ChainNode>();

  encode(request: unknown): EncodedRequest {
    const inner = isObject(request) ? request['request'] : undefined;
    const messages = isObject(inner) ? inner['messages'] : undefined;
    if (!isObject(request) || !isObject(inner) || !Array.isArray(messages) || messages.length === 0) {
      const rest = canonicalJson(request);
      return { hash: contentHash(rest), rest, history: '', unwritten: [] };
    }
    const { history, unwritten } = this.#chain(messages);
    const rest = canonicalJson({ ...request, request: { ...inner, messages: undefined } });
    return { hash: contentHash(`${history}\n${rest}`), rest, history, unwritten };
  }

  #chain(messages: readonly unknown[]): { history: string; unwritten: ChainNode[] } {
    const unwritten: ChainNode[] = [];
    let parent = '';
    for (const message of messages) {
      const node = this.#node(parent, message);
      if (!node.written) unwritten.push(node);
      parent = node.hash;
    }
    return { history: parent, unwritten };
  }

  #node(parent: string, message: unknown): ChainNode {
    const known = isObject(message) ? this.#known.get(message) : undefined;
    if (known?.parent === parent) return known;
    const body = canonicalJson(message);
    const node: ChainNode = { parent, hash: contentHash(`${parent}\n${body}`), body, written: false };
    if (isObject(message)) this.#known.set(message, node);
    return node;
  }
}

/** The request as it was, from its rest and its history, oldest message first. */
export function decodeRequest(rest: string, messages: readonly Json[]): Json {
  const request = JSON.parse(rest) as Json;
  if (messages.length === 0 || !isObject(request) || !isObject(request['request'])) return request;
  return { ...request, request: { ...request['request'], messages } } as Json;
}
