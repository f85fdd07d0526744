import type { HistoryEntry } from './conversation-result.ts';
import { isObject, type Json } from './json.ts';

/** What a judge found wrong at one turn of a conversation; kept with its verdict, as `metadata.findings`. */
export interface Finding {
  readonly turn: number;
  /** Empty when the judge named the turn only: then the verdict's reason says what. */
  readonly what: string;
}

const mostFindings = 20;
const longestWords = 500;

const turnIn = (value: Json | undefined): number | undefined => {
  const turn = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value;
  return typeof turn === 'number' && Number.isInteger(turn) ? turn : undefined;
};

/**
 * The findings in a judge's answer: a list `findings` of `{turn, what}`, or one `turn` for the whole of it. They are
 * never needed, so whatever is odd is left out: other shapes, and turns that the conversation does not have.
 */
export function findingsIn(answer: Json | undefined, history: readonly Pick<HistoryEntry, 'turn'>[]): Finding[] {
  if (!isObject(answer)) return [];
  const turns = new Set(history.map(({ turn }) => turn));
  const listed = Array.isArray(answer['findings']) ? answer['findings'] : [];
  const said = listed.length === 0 && answer['turn'] !== undefined ? [{ turn: answer['turn'] }] : listed;
  return said
    .flatMap((one: Json): Finding[] => {
      if (!isObject(one)) return [];
      const turn = turnIn(one['turn']);
      const what = typeof one['what'] === 'string' ? one['what'].trim().slice(0, longestWords) : '';
      return turn === undefined || !turns.has(turn) ? [] : [{ turn, what }];
    })
    .slice(0, mostFindings);
}

/** As a verdict keeps them; nothing when there are none. */
export const findingsKept = (findings: readonly Finding[]): { findings?: Json } =>
  findings.length === 0 ? {} : { findings: findings.map(({ turn, what }) => ({ turn, what })) };

/** How a judge is asked for them, as a part of the JSON object it answers with. */
export const findingsForm = '"findings": [{"turn": <its number in the transcript>, "what": "<what went wrong there>"}]';

/** Said beside the form. */
export const findingsRule = 'Leave "findings" empty when nothing went wrong.';
