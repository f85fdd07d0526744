import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { broken, type Check, demand } from '../check.ts';

const timeLimitMs = 5000;

function readAnswer(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value['pass'] === 'boolean' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `webhook`: a server decides: it gets `{output, context}` and answers `{pass, score?, reason?}`. */
export const webhook: Check = async ({ value, output, subject, inverse, effects, ports, grader }) => {
  demand(typeof value === 'string' && /^https?:\/\//.test(value), '"webhook" needs an http(s) address as its value');
  const body: Json = { output, context: { prompt: subject.prompt ?? '', vars: subject.vars } };
  let response: { status: number; text: string };
  try {
    const recorded = await effects.perform('webhook', grader.nextPath(), { url: value, body }, async ({ signal }) => {
      const answer = await ports.post(value, body, { signal, timeoutMs: timeLimitMs });
      return { status: answer.status, text: answer.text };
    });
    response = recorded.value;
  } catch (error) {
    return broken(`The webhook ${value} did not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (response.status < 200 || response.status > 299) return broken(`The webhook ${value} answered ${response.status}`);
  const answer = readAnswer(response.text);
  if (answer === undefined) return broken(`The webhook ${value} did not answer with {"pass": true or false}`);
  const pass = answer['pass'] !== inverse;
  const said = answer['score'];
  const score = typeof said === 'number' && Number.isFinite(said) ? (inverse ? 1 - said : said) : pass ? 1 : 0;
  const reason =
    typeof answer['reason'] === 'string' ? answer['reason'] : pass ? 'Assertion passed' : 'The webhook said no';
  return { pass, score, reason };
};
