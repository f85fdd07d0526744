import type { ChatMessage } from '../domain/message.ts';

/** What is put in where a model has nothing to answer to. Some providers refuse a request without a user's message. */
export const opening = '[The call begins. You speak first.]';
const silence = '[silence]';

interface Line {
  readonly speaker: string;
  readonly text: string;
}

/**
 * Who has seen what. Its job: one message list per agent and one for the client, and the dialogue as all of them heard it.
 *
 * 1. The client hears the agents' words only, never tool calls.
 * 2. An agent hears the client's words while it holds the conversation.
 * 3. A handoff's target gets, besides its own earlier messages, the whole dialogue it missed, and why it was called.
 */
export class Contexts {
  readonly #lists = new Map<string, ChatMessage[]>();
  readonly #dialogue: Line[] = [];
  /** How much of the dialogue an agent has in its own list. */
  readonly #heard = new Map<string, number>();

  constructor(prompts: Readonly<Record<string, string>>) {
    for (const [key, prompt] of Object.entries(prompts)) this.#lists.set(key, [{ role: 'system', content: prompt }]);
  }

  /** The messages of a part, as they go to its model. */
  messages(key: string): readonly ChatMessage[] {
    const list = this.#list(key);
    return list.some(({ role }) => role === 'user') ? [...list] : [...list, { role: 'user', content: opening }];
  }

  add(key: string, message: ChatMessage): void {
    const list = this.#list(key);
    if (message.role === 'assistant' && !list.some(({ role }) => role === 'user'))
      list.push({ role: 'user', content: opening });
    list.push(message);
  }

  /** The agent's words of one entry: part of the dialogue and already in the agent's own list. */
  agentSpoke(key: string, name: string, text: string): void {
    if (text !== '') this.#dialogue.push({ speaker: name, text });
    this.#heard.set(key, this.#dialogue.length);
  }

  /** What the agents said since the client last spoke becomes one message to the client. */
  tellClient(texts: readonly string[]): void {
    const said = texts.filter((text) => text !== '').join('\n');
    this.add('client', { role: 'user', content: said === '' ? silence : said });
  }

  /** The client's words reach the agent that holds the conversation. */
  clientSpoke(text: string, holder: string): void {
    this.#dialogue.push({ speaker: 'Client', text });
    this.add(holder, { role: 'user', content: text });
    this.#heard.set(holder, this.#dialogue.length);
  }

  /** Brings the target up to date. */
  handOver(from: string, target: string, reason: string, context: string): void {
    const missed = this.#dialogue.slice(this.#heard.get(target) ?? 0);
    const parts = [
      `[Handed over to you by ${from}. Reason: ${reason}]`,
      ...(context === '' ? [] : [`[Context: ${context}]`]),
      ...(missed.length === 0 ? [] : ['[What was said:]', ...missed.map(({ speaker, text }) => `${speaker}: ${text}`)]),
    ];
    this.add(target, { role: 'user', content: parts.join('\n') });
    this.#heard.set(target, this.#dialogue.length);
  }

  #list(key: string): ChatMessage[] {
    const list = this.#lists.get(key) ?? [];
    this.#lists.set(key, list);
    return list;
  }
}
