/**
 * Asks models on behalf of one check.
 * 1. The n-th call of the i-th check has the path `grade/<i>/<n>`, counted in the order of asking.
 * 2. A call that fails ends the check with a problem: a grader's failure is never a score.
 * 3. An answer that cannot be read is asked for once more, with what was wrong; then it is a failure.
 * 4. What calls used is summed, also when the check ends badly.
 */
import type { Effects } from '../../domain/effects.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ChatMessage, ModelRequest } from '../../domain/message.ts';
import type { Reply, Usage } from '../../domain/reply.ts';
import { asText, CheckProblem } from '../check.ts';
import { addUsage } from '../score.ts';
import { type DefaultGraders, type GraderKind, resolveGrader } from './grader-provider.ts';
import { embeddingIn, type Moderated, moderationIn, scoresIn } from './read-output.ts';

/** A question to a language model: messages of ours, or a prompt of the config author's. */
export type Question = { readonly messages: readonly ChatMessage[] } | { readonly prompt: string };

/** Reads an answer; what it cannot read it explains in a sentence. */
export type AnswerReader<T> = (text: string, output: Json) => { readonly value: T } | { readonly problem: string };

export interface GraderSettings {
  readonly index: number;
  readonly effects: Effects;
  /** Provider definitions in order of precedence. */
  readonly candidates: readonly (Json | undefined)[];
  readonly defaults: DefaultGraders;
  readonly vars: JsonObject;
  readonly repeatIndex?: number;
}

const roles: Readonly<Record<GraderKind, string>> = {
  text: 'grader',
  embedding: 'embedding',
  classification: 'classifier',
  moderation: 'moderation',
};

export class Grader {
  readonly #settings: GraderSettings;
  #asked = 0;
  #usage: Usage | undefined;

  constructor(settings: GraderSettings) {
    this.#settings = settings;
  }

  /** What all calls so far used. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  nextPath(): string {
    const path = `grade/${this.#settings.index}/${this.#asked}`;
    this.#asked += 1;
    return path;
  }

  async #call(kind: GraderKind, request: ModelRequest): Promise<Reply> {
    const { effects, candidates, defaults, repeatIndex } = this.#settings;
    const provider = resolveGrader(kind, candidates, defaults);
    const repeat = repeatIndex === undefined ? {} : { repeatIndex };
    // Grading is what a case does last: one more call is all that it is known to need.
    const call = { role: roles[kind], provider, request: { ...request, ...repeat }, expectedCalls: 1 };
    const { value } = await effects.model(this.nextPath(), call);
    if (value.kind === 'failure') throw new CheckProblem(`The grader ${provider} failed: ${value.message}`);
    this.#usage = addUsage(this.#usage, value.usage);
    return value;
  }

  async #chat(question: Question): Promise<Reply> {
    return this.#call('text', { kind: 'chat', ...question, context: { vars: this.#settings.vars } });
  }

  /** An answer in the form the reader wants. */
  async ask<T>(question: Question, read: AnswerReader<T>): Promise<T> {
    const first = await this.#chat(question);
    const answer = read(textOf(first), first.output);
    if ('value' in answer) return answer.value;
    const second = await this.#chat(askAgain(question, textOf(first), answer.problem));
    const retried = read(textOf(second), second.output);
    if ('value' in retried) return retried.value;
    throw new CheckProblem(`The grader's answer cannot be read: ${retried.problem}`);
  }

  async embed(text: string): Promise<readonly number[]> {
    const embedding = embeddingIn(await this.#call('embedding', { kind: 'embedding', input: text }));
    if (embedding === undefined) throw new CheckProblem('The grader gave no embedding');
    return embedding;
  }

  /** How alike two texts are, from a model that says so itself; undefined when the grader gives embeddings. */
  async likeness(expected: string, text: string): Promise<number | undefined> {
    const { candidates, defaults } = this.#settings;
    if (!/^(?:huggingface|hf):sentence-similarity:/.test(resolveGrader('embedding', candidates, defaults)))
      return undefined;
    const { output } = await this.#call('embedding', { kind: 'similarity', expected, input: text });
    if (typeof output !== 'number') throw new CheckProblem('The grader gave no similarity');
    return output;
  }

  /** What a moderation model says of a text; models that judge an exchange see the prompt too. */
  async moderate(text: string, prompt?: string): Promise<Moderated> {
    const asked = prompt === undefined ? {} : { prompt };
    const moderated = moderationIn(await this.#call('moderation', { kind: 'moderation', input: text, ...asked }));
    if (moderated === undefined) throw new CheckProblem('The moderation model gave no verdict');
    return moderated;
  }

  async classify(text: string): Promise<Readonly<Record<string, number>>> {
    const scores = scoresIn(await this.#call('classification', { kind: 'classification', input: text }));
    if (scores === undefined) throw new CheckProblem('The classifier gave no scores');
    return scores;
  }
}

const textOf = (reply: Reply): string =>
  reply.text === '' && reply.output !== null ? asText(reply.output) : reply.text;

/** The same question with the unreadable answer and what was wrong with it. */
function askAgain(question: Question, answer: string, problem: string): Question {
  const complaint = `That answer cannot be used: ${problem}. Answer again, in exactly the form asked for and with nothing else.`;
  const added: readonly ChatMessage[] = [
    { role: 'assistant', content: answer === '' ? '(empty)' : answer },
    { role: 'user', content: complaint },
  ];
  if ('messages' in question) return { messages: [...question.messages, ...added] };
  const list = messagesIn(question.prompt);
  return { prompt: list === undefined ? `${question.prompt}\n\n${complaint}` : JSON.stringify([...list, ...added]) };
}

function messagesIn(prompt: string): readonly Json[] | undefined {
  try {
    const value: unknown = JSON.parse(prompt);
    return Array.isArray(value) ? (value as Json[]) : undefined;
  } catch {
    return undefined;
  }
}
