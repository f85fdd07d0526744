/**
 * What the journal holds of a case that has not ended, in the shape of a row, so that whatever shows rows can show it.
 *
 * Job: the words and tools of a conversation, or the prompt and the answer, and what they took so far. Not its job: the
 * row that the case will have; only the case itself can make that.
 */
import type { Case } from '../domain/case.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import { type Row, rowIdentity } from '../domain/row.ts';
import type { Answer, StepRecord } from '../store/store.ts';
import { CaseSums, type Measures } from './case-sums.ts';

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** A model's part of a conversation: `2/support/1/0`, or `turn/2/agent` where an eval simulates its user. */
const played = /^(\d+)\/(.+)\/\d+\/0$/;
const simulated = /^turn\/(\d+)\/(client|agent)$/;

interface Spoken {
  readonly turn: number;
  readonly speaker: string;
  readonly step: StepRecord;
}

function spokenOf(step: StepRecord): Spoken | undefined {
  const [, turn, part] = played.exec(step.path) ?? simulated.exec(step.path) ?? [];
  if (turn === undefined || part === undefined) return undefined;
  return { turn: Number(turn), speaker: part === 'client' ? part : `agent_${part}`, step };
}

/** What the model was asked: the step's request also tells who asked whom. */
function askedOf({ request }: StepRecord): JsonObject {
  const asked = isObject(request) ? request['request'] : undefined;
  return isObject(asked) ? asked : {};
}

const timeOf = ({ sentAt, answer }: StepRecord): number => sentAt ?? answer?.times.startedAt ?? 0;

/** The newest send of every path, in the order of time. */
function newest(steps: readonly StepRecord[]): StepRecord[] {
  const byPath = new Map<string, StepRecord>();
  for (const step of steps) if (step.send >= (byPath.get(step.path)?.send ?? 0)) byPath.set(step.path, step);
  return [...byPath.values()].sort((a, b) => timeOf(a) - timeOf(b));
}

/** A client's line from a script is in no answer; the agent that answers it is sent it. */
function scriptedLine(later: readonly Spoken[]): string {
  const answering = later.find(({ speaker, step }) => speaker !== 'client' && step.kind === 'model');
  const heard = answering === undefined ? [] : list(askedOf(answering.step)['messages']);
  const said = heard.findLast((message) => isObject(message) && message['role'] === 'user');
  return isObject(said) ? text(said['content']) : '...';
}

/** What one model reply adds to the history. Results stand at the positions of their calls. */
function entryOf({ turn, speaker, step }: Spoken, answers: ReadonlyMap<string, Answer>): JsonObject {
  const base = { turn, speaker };
  if (step.answer === undefined) return { ...base, content: '...' };
  const { value, times } = step.answer;
  const reply = isObject(value) ? value : {};
  const calls = list(reply['toolCalls']);
  const results = calls.map((_, at) => answers.get(step.path.replace(/0$/, String(at + 1)))?.value ?? '...');
  return {
    ...base,
    content: text(reply['text']).trim(),
    ...(calls.length === 0 ? {} : { tool_calls: calls, tool_results: results }),
    latency_ms: times.latencyMs,
    queue_ms: times.queueMs + times.backoffMs,
  };
}

function historyOf(steps: readonly StepRecord[]): JsonObject[] {
  const answers = new Map(steps.flatMap(({ path, answer }) => (answer === undefined ? [] : [[path, answer] as const])));
  const spoken = steps.flatMap((step) => spokenOf(step) ?? []).sort((a, b) => a.turn - b.turn);
  return spoken.map((each, at) =>
    each.step.kind === 'clock'
      ? { turn: each.turn, speaker: each.speaker, content: scriptedLine(spoken.slice(at + 1)) }
      : entryOf(each, answers),
  );
}

function promptAndOutput(steps: readonly StepRecord[]): Pick<Row, 'output' | 'detail'> {
  const step = steps.find(({ path }) => path === 'prompt');
  if (step === undefined) return { output: null };
  const { prompt = '', messages } = askedOf(step);
  const detail = { prompt: messages === undefined ? prompt : JSON.stringify(messages, null, 2) };
  const value = step.answer?.value;
  return { output: (isObject(value) ? value['output'] : undefined) ?? null, detail };
}

function contents(steps: readonly StepRecord[]): Pick<Row, 'output' | 'detail'> {
  const history = historyOf(steps);
  if (history.length === 0) return promptAndOutput(steps);
  const turns = Math.max(...history.map(({ turn }) => Number(turn)));
  return { output: null, detail: { conversation_history: history, total_turns: turns } };
}

/** The same sums as a finished case's row has: grading costs, but its time is not the case's. */
export function measures(recorded: readonly StepRecord[]): Measures {
  const sums = new CaseSums();
  for (const { kind, answer } of newest(recorded)) if (answer !== undefined) sums.add({ kind, answer });
  return sums.measured();
}

/** The case's row as far as its steps tell. */
export function rowSoFar(one: Case, recorded: readonly StepRecord[]): Row {
  const steps = newest(recorded);
  return {
    ...rowIdentity(one),
    status: 'aborted',
    score: null,
    ...contents(steps),
    ...measures(recorded),
    provisional: true,
  };
}
