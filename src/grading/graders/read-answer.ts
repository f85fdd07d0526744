import { isObject, type Json, type JsonObject } from '../../domain/json.ts';

import { findJsonObjects } from '../find-json.ts';
import type { AnswerReader } from './grader.ts';

/** The first JSON object in an answer, or the output itself when the provider parsed it already. */
export function objectIn(text: string, output: Json): JsonObject | undefined {
  if (isObject(output)) return output;
  return findJsonObjects(text).find(isObject);
}

const numberIn = (value: Json | undefined): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

export interface Graded {
  readonly pass: boolean;
  readonly score: number;
  readonly reason: string;
  /** The whole answer, for what may stand beside these. */
  readonly said: JsonObject;
}

/** `{pass, score, reason}` as models write it: a missing part follows from the others. */
export const readGraded: AnswerReader<Graded> = (text, output) => {
  const answer = objectIn(text, output);
  if (answer === undefined) return { problem: 'there is no JSON object in it' };
  const said = answer['pass'];
  const number = numberIn(answer['score']);
  if (said === undefined && number === undefined) return { problem: 'it has neither "pass" nor "score"' };
  const pass =
    typeof said === 'boolean' ? said : said === undefined ? true : /^(?:true|yes|pass|y)$/i.test(String(said));
  const reason = typeof answer['reason'] === 'string' && answer['reason'] !== '' ? answer['reason'] : '';
  return { value: { pass, score: number ?? (pass ? 1 : 0), reason, said: answer } };
};

/** `{score, reason}` with a score within bounds. */
export const readScore =
  (min: number, max: number, reasonKey: string): AnswerReader<Omit<Graded, 'pass'>> =>
  (text, output) => {
    const answer = objectIn(text, output);
    if (answer === undefined) return { problem: 'there is no JSON object in it' };
    const score = numberIn(answer['score']);
    if (score === undefined) return { problem: 'it has no number as "score"' };
    if (score < min || score > max) return { problem: `the score ${score} is not from ${min} to ${max}` };
    const reason = answer[reasonKey];
    return { value: { score, reason: typeof reason === 'string' ? reason : '', said: answer } };
  };

/** A list of texts under a key. */
export const readList =
  (key: string): AnswerReader<readonly string[]> =>
  (text, output) => {
    const list = objectIn(text, output)?.[key];
    const usable =
      Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string' && item.trim() !== '');
    return usable ? { value: list as readonly string[] } : { problem: `it has no list of texts as "${key}"` };
  };

/** Any words at all. */
export const readText: AnswerReader<string> = (text) =>
  text.trim() === '' ? { problem: 'it is empty' } : { value: text };
