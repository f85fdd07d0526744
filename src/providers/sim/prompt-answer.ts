import { hashText } from '../../domain/hash-text.ts';
import { isObject, type Json } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import { type Dialogue, type SimAnswer, say } from './dialogue.ts';
import { coverage, sentencesOf, shared } from './words.ts';

/** The sentences of a text that speak most about a question; undefined when none does. */
export function answerFrom(question: string, text: string): string | undefined {
  const ranked = sentencesOf(text)
    .filter((sentence) => sentence !== question && !sentence.endsWith('?') && !sentence.endsWith(':'))
    .map((sentence, at) => ({ sentence, at, fit: coverage(question, sentence) }))
    .filter(({ sentence, fit }) => fit > 0.2 && shared(question, sentence) >= 2)
    .toSorted((a, b) => b.fit - a.fit || a.at - b.at)
    .slice(0, 2)
    .toSorted((a, b) => a.at - b.at);
  return ranked.length === 0 ? undefined : ranked.map(({ sentence }) => sentence.replace(/^[-*#>\s]+/, '')).join(' ');
}

/** The smallest value that fits a schema. */
export function instanceOf(schema: Json | undefined): Json {
  if (!isObject(schema)) return 'simulated';
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  for (const name of ['anyOf', 'oneOf', 'allOf']) {
    const choices = schema[name];
    if (Array.isArray(choices)) return instanceOf(choices[0]);
  }
  const types = schema['type'];
  const type = Array.isArray(types) ? types.find((one) => one !== 'null') : types;
  if (type === 'object' || isObject(schema['properties'])) {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'].map(String) : Object.keys(properties);
    return Object.fromEntries(required.map((name) => [name, instanceOf(properties[name])]));
  }
  if (type === 'array')
    return Array.from({ length: Number(schema['minItems'] ?? 1) }, () => instanceOf(schema['items']));
  if (type === 'integer' || type === 'number') return Number(schema['minimum'] ?? 1);
  if (type === 'boolean') return true;
  return type === 'null' ? null : 'simulated';
}

/** The schema of a request that asks for JSON; `null` when it asks for JSON without saying which. */
export function wantedSchema(request: Extract<ModelRequest, { kind: 'chat' }>): Json | undefined {
  const params = request.params ?? {};
  const text = isObject(params['text']) ? params['text']['format'] : undefined;
  const format = params['response_format'] ?? text ?? params['format'];
  if (!isObject(format)) return format === 'json' ? null : undefined;
  const inner = isObject(format['json_schema']) ? format['json_schema']['schema'] : format['schema'];
  if (inner !== undefined) return inner;
  return format['type'] === 'json_object' ? null : format['type'] === 'object' ? format : undefined;
}

const told = /\b(?:reply|answer|respond) (?:only )?with (?:the (?:word|phrase|text) )?["'“`]([^"'”`\n]+)["'”`]/iu;
const sum = /(-?\d+(?:\.\d+)?)\s*([+*x×/-])\s*(-?\d+(?:\.\d+)?)/u;

function computed(text: string): string | undefined {
  const match = sum.exec(text);
  if (match === null || !/\b(?:what|how much|compute|calculate|=)/iu.test(text)) return undefined;
  const [a, b] = [Number(match[1]), Number(match[3])];
  const values: Record<string, number> = { '+': a + b, '-': a - b, '*': a * b, x: a * b, '×': a * b, '/': a / b };
  return String(values[match[2] ?? '+']);
}

const openers = ['Thank you for asking.', 'Good question.', 'Happy to help.', 'Let me put it plainly.'];

/** What a simulated model says to a single prompt: what it is told to say, a sum, what the prompt itself knows, a canned line. */
export function answerPrompt(dialogue: Dialogue, seed: number): SimAnswer {
  const text = `${dialogue.system}\n${dialogue.lastHeard}`;
  const direct = told.exec(text)?.[1] ?? computed(dialogue.lastHeard);
  if (direct !== undefined) return say(direct);
  const sentences = sentencesOf(dialogue.lastHeard);
  const question = sentences.findLast((sentence) => sentence.endsWith('?')) ?? sentences.at(-1) ?? '';
  const known = answerFrom(question, text);
  if (known !== undefined) return say(known);
  const opener = openers[hashText(dialogue.lastHeard, seed) % openers.length];
  return say(`${opener} You asked: ${question.slice(0, 200)}`);
}
