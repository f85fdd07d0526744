/**
 * Turns what assertion code returned into a verdict.
 * 1. `true`/`false`, a number, or `{pass, score, reason}` are answers; anything else is a failed check that says so.
 * 2. A number that is no number, and code that hung, crashed or could not be started, is an error of the check: it says
 *    nothing about the answer.
 */
import type { CodeOutcome } from '../domain/code-runner.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { broken, type CheckInput, type CheckOutcome, verdict } from './check.ts';

const finite = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const scoresIn = (value: unknown): Record<string, number> | undefined =>
  isObject(value)
    ? (Object.fromEntries(Object.entries(value).filter(([, score]) => finite(score))) as Record<string, number>)
    : undefined;

/** A grading result in plain data as a verdict; undefined when it is none. Pythonic names are understood. */
export function readGradingResult(value: unknown): Verdict | undefined {
  if (!isObject(value)) return undefined;
  const pass = value['pass'] ?? value['pass_'];
  const { score, reason } = value;
  if (typeof pass !== 'boolean' || typeof score !== 'number' || typeof reason !== 'string') return undefined;
  const named = scoresIn(value['namedScores'] ?? value['named_scores']);
  const weights = scoresIn(value['namedScoreWeights'] ?? value['named_score_weights']);
  const parts = value['componentResults'] ?? value['component_results'];
  const components = Array.isArray(parts)
    ? parts.map(readGradingResult).filter((part) => part !== undefined)
    : undefined;
  const assertion =
    isObject(value['assertion']) && typeof value['assertion']['type'] === 'string' ? value['assertion'] : undefined;
  return {
    pass,
    score,
    reason,
    ...(named === undefined ? {} : { namedScores: named }),
    ...(weights === undefined ? {} : { namedScoreWeights: weights }),
    ...(components === undefined ? {} : { componentResults: components }),
    ...(isObject(value['metadata']) ? { metadata: value['metadata'] } : {}),
    ...(assertion === undefined ? {} : { assertion: assertion as unknown as Assertion }),
  };
}

const shown = (value: unknown): string => (value === undefined ? 'undefined' : JSON.stringify(value));

function ofNumber(score: number, { assertion, inverse }: CheckInput, what: string): CheckOutcome {
  if (!Number.isFinite(score)) return broken(`${what} returned ${score}, which is not a score`);
  const reached = assertion.threshold === undefined ? score > 0 : score >= assertion.threshold;
  return { ...verdict(reached !== inverse, `${what} returned ${score}`), score };
}

/** A verdict from a value that is already known to be one of the answers; undefined when it is not. */
function verdictOfValue(value: unknown, input: CheckInput, what: string): CheckOutcome | undefined {
  const { inverse } = input;
  if (typeof value === 'boolean') return verdict(value !== inverse, `${what} returned ${value}`);
  if (typeof value === 'number') return ofNumber(value, input, what);
  const result = readGradingResult(value);
  if (result === undefined) return undefined;
  if (!Number.isFinite(result.score)) return broken(`${what} returned the score ${result.score}, which is not one`);
  const pass = result.pass !== inverse;
  return { ...result, pass, reason: inverse ? (pass ? 'Assertion passed' : `${what} returned true`) : result.reason };
}

/** JavaScript: the value must be one of the answers. */
export function javascriptVerdict(outcome: CodeOutcome, input: CheckInput): CheckOutcome {
  const what = 'The assertion code';
  switch (outcome.kind) {
    case 'returned':
      return (
        verdictOfValue(outcome.value, input, what) ?? {
          pass: false,
          score: 0,
          reason: `${what} must return true, false, a number or {pass, score, reason}; it returned ${shown(outcome.value)}`,
        }
      );
    case 'threw':
      return { pass: false, score: 0, reason: `${what} threw: ${outcome.message}` };
    case 'broke':
      return broken(`${what} gave no answer: ${outcome.message}`);
  }
}

/** Texts that scripts print: `True`, `0.5`, or JSON. */
function readScriptValue(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text) as Json;
    } catch {
      return value;
    }
  }
  const number = Number.parseFloat(text);
  return Number.isNaN(number) ? value : number;
}

/** A grading result below the threshold does not pass, whatever it says. */
function withThreshold(value: unknown, threshold: number | undefined): unknown {
  if (threshold === undefined || !isObject(value) || typeof value['score'] !== 'number') return value;
  if (value['score'] >= threshold) return value;
  const said = typeof value['reason'] === 'string' && value['reason'] !== '' ? `: ${value['reason']}` : '';
  return {
    ...value,
    pass: false,
    reason: `Score ${value['score']} is below the threshold ${threshold}${said}`,
  } satisfies JsonObject;
}

/** Python and Ruby: as JavaScript, and also what they print as text. */
export function scriptVerdict(outcome: CodeOutcome, input: CheckInput): CheckOutcome {
  const what = `The ${input.type} code`;
  switch (outcome.kind) {
    case 'returned': {
      const value = withThreshold(readScriptValue(outcome.value), input.assertion.threshold);
      return (
        verdictOfValue(value, input, what) ?? {
          pass: false,
          score: 0,
          reason: `${what} must return a boolean, a number or {pass, score, reason}; it returned ${shown(outcome.value)}`,
        }
      );
    }
    case 'threw':
      return { pass: false, score: 0, reason: `${what} failed: ${outcome.message}` };
    case 'broke':
      return broken(`${what} gave no answer: ${outcome.message}`);
  }
}
