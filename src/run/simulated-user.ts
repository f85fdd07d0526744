/**
 * Job: a test whose provider is `promptfoo:simulated-user`: a model plays the person, the column's provider answers.
 * Not its job: what is made of the conversation (transforms, checks), pace and retries.
 *
 * 1. Both sides are ordinary model calls: each through its own lane, each journaled under `turn/<n>/<side>`.
 * 2. It ends after `maxTurns` answers, or when the person says the stop mark, which is no part of the conversation.
 * 3. The target is spoken to as a provider that knows no conversations expects it: one JSON list of messages.
 */
import type { ModelCall } from '../domain/effects.ts';
import { isObject, type Json } from '../domain/json.ts';
import type { ProviderFailure, Reply } from '../domain/reply.ts';
import { type Asking, type Message, Sayings, type Simulated } from './simulation.ts';

export const stopMark = '###STOP###';
export const defaultTurns = 10;

function listOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.trim().startsWith('[')) return [];
  try {
    const parsed = JSON.parse(value) as Json;
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** What was said before: of the test's vars, else of the config. What is no message is left out. */
async function earlier(asking: Asking): Promise<Message[]> {
  const { vars } = asking.rendered;
  const given = listOf(vars['initialMessages'] || asking.config['initialMessages']);
  const messages: Message[] = [];
  for (const one of given) {
    if (!isObject(one) || typeof one['role'] !== 'string' || typeof one['content'] !== 'string') continue;
    const role = await asking.render(one['role'], vars);
    const content = await asking.render(one['content'], vars);
    if (role === 'user' || role === 'assistant' || role === 'system') messages.push({ role, content });
  }
  return messages;
}

/** The words that make a model play the person. */
export const personPrompt = (instructions: string): string =>
  [
    'You play a person who is talking to an assistant. You are not the assistant.',
    `What you want: ${instructions}`,
    '',
    'Write only what this person says next: one short message, in plain words, without naming the speaker.',
    'Tell things bit by bit, as people do, and invent nothing that you were not told.',
    `When you have what you want, or it is clear that you will not get it, finish that message with ${stopMark}`,
  ].join('\n');

const opening = 'The conversation begins. Say your first message.';

function personCall(asking: Asking, instructions: string, messages: readonly Message[]): ModelCall {
  const heard = messages.map(({ role, content }) =>
    role === 'user' ? ({ role: 'assistant', content } as const) : ({ role: 'user', content } as const),
  );
  const first = heard[0]?.role === 'user' ? [] : [{ role: 'user', content: opening } as const];
  return {
    role: 'client',
    provider: asking.person,
    request: {
      kind: 'chat',
      messages: [{ role: 'system', content: personPrompt(instructions) }, ...first, ...heard],
      ...asking.repeat,
    },
  };
}

/** A target that keeps the conversation itself gets only what is new, once it has given the conversation a name. */
function targetPrompt(asking: Asking, messages: readonly Message[], sessionId: Json | undefined): string {
  const system = { role: 'system', content: asking.rendered.prompt };
  if (asking.config['stateful'] !== true) return JSON.stringify([system, ...messages]);
  const newest = { role: 'user', content: messages.at(-1)?.content ?? '' };
  return JSON.stringify(sessionId === undefined ? [system, newest] : [newest]);
}

class Conversation {
  readonly #asking: Asking;
  readonly #instructions: string;
  readonly #messages: Message[];
  readonly #said = new Sayings();
  #last: Reply | undefined;
  #sessionId: Json | undefined;

  constructor(asking: Asking, instructions: string, messages: Message[]) {
    this.#asking = asking;
    this.#instructions = instructions;
    this.#messages = messages;
    this.#sessionId = asking.rendered.vars['sessionId'];
  }

  async play(turns: number): Promise<Simulated | ProviderFailure> {
    if (this.#messages.at(-1)?.role === 'user') {
      const failure = await this.#target(0);
      if (failure !== undefined) return failure;
    }
    for (let turn = 1; turn <= turns; turn += 1) {
      const words = await this.#person(turn);
      if (typeof words !== 'string') return words;
      if (words.includes(stopMark)) break;
      this.#messages.push({ role: 'user', content: words });
      const failure = await this.#target(turn);
      if (failure !== undefined) return failure;
    }
    return this.#result();
  }

  async #person(turn: number): Promise<string | ProviderFailure> {
    const call = personCall(this.#asking, this.#instructions, this.#messages);
    const { value, times } = await this.#asking.effects.model(`turn/${turn}/client`, call);
    if (value.kind === 'failure') return value;
    this.#said.add(value, times.latencyMs);
    return value.text;
  }

  async #target(turn: number): Promise<ProviderFailure | undefined> {
    const { rendered, target, params, context, repeat, effects } = this.#asking;
    const session = this.#sessionId === undefined ? {} : { sessionId: this.#sessionId };
    const { value, times } = await effects.model(`turn/${turn}/agent`, {
      role: 'agent',
      provider: target,
      request: {
        kind: 'chat',
        prompt: targetPrompt(this.#asking, this.#messages, this.#sessionId),
        params,
        context: { ...context, vars: { ...rendered.vars, ...session } },
        ...repeat,
      },
    });
    if (value.kind === 'failure') return value;
    this.#said.add(value, times.latencyMs);
    this.#last = value;
    this.#sessionId = value.metadata?.['sessionId'] ?? this.#sessionId;
    const { output } = value;
    const content = typeof output === 'string' ? output : output === null ? '' : JSON.stringify(output);
    this.#messages.push({ role: 'assistant', content });
    return undefined;
  }

  #result(): Simulated {
    const guardrails = this.#last?.metadata?.['guardrails'];
    return this.#said.result(this.#messages, this.#sessionId, {
      ...(this.#last === undefined ? {} : { finishReason: this.#last.finishReason }),
      ...(guardrails === undefined ? {} : { guardrails }),
    });
  }
}

/** Plays the conversation of one test. */
export async function simulateUser(asking: Asking): Promise<Simulated | ProviderFailure> {
  const { config, rendered } = asking;
  const template = typeof config['instructions'] === 'string' ? config['instructions'] : '{{instructions}}';
  const instructions = await asking.render(template || '{{instructions}}', rendered.vars);
  const turns = typeof config['maxTurns'] === 'number' ? config['maxTurns'] : defaultTurns;
  return new Conversation(asking, instructions, await earlier(asking)).play(turns);
}
