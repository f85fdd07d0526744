/**
 * The tool calls of one model reply. Its job: a result for every call, by position, and what follows from them: a
 * handoff, the end, a loop. Not its job: what tools do.
 *
 * 1. Results align with calls by position, whatever happens.
 * 2. Only the engine's own handoff and end_call results have consequences; what a user's tool returns never has.
 * 3. The first valid handoff counts; the others of the same reply get an error result.
 */
import type { RecordedToolCall } from '../domain/conversation-result.ts';
import type { Millis } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { ToolCall } from '../domain/message.ts';
import { didYouMean } from '../prompts/nearest-name.ts';
import { longestArguments } from '../tools/parse-arguments.ts';
import { toolError } from '../tools/parse-result.ts';
import type { ToolOutcome } from '../tools/tool-emulator.ts';
import { endCallName, endCallResult, readEndCall } from './end-call.ts';
import { type Ending, looping, timedOut } from './ending.ts';
import { handoffResult, isHandoff, readHandoff } from './handoff.ts';
import { type Part, type Stage, timeLeft } from './stage.ts';

/** What a turn remembers of its calls so far, over all rounds and agents. */
export interface TurnCalls {
  rounds: number;
  calls: number;
  lastCall: string;
  sameInARow: number;
  /** Replies in a row whose arguments could not be read. */
  malformedInARow: number;
}

export const freshTurn = (): TurnCalls => ({ rounds: 0, calls: 0, lastCall: '', sameInARow: 0, malformedInARow: 0 });

export interface RoundOutcome {
  readonly calls: readonly RecordedToolCall[];
  readonly results: readonly Json[];
  readonly toolMs: Millis;
  readonly handoff?: { readonly target: string; readonly reason: string; readonly context: string };
  readonly ended?: { readonly reason: string };
  readonly ending?: Ending;
}

const repairs = 2;

/** Gives every call an id of its own; a missing, empty or used one is replaced, and kept beside. */
export function rekey(stage: Stage, part: Part, calls: readonly ToolCall[], round: number): RecordedToolCall[] {
  return calls.map((call, at) => {
    const text = typeof call.id === 'string' ? call.id : '';
    const own = text !== '' && !stage.usedCallIds.has(text);
    const id = own ? text : unusedId(stage, `call_${stage.turn}_${part.key}_${round}_${at + 1}`);
    stage.usedCallIds.add(id);
    const plain: RecordedToolCall = {
      id,
      type: 'function',
      function: {
        name: call.function.name.toWellFormed(),
        arguments: shortened(call.function.arguments.toWellFormed()),
      },
    };
    return own || text === '' ? plain : { ...plain, original_id: text };
  });
}

/** What nobody can use is not kept whole, nor sent back to the model. */
const cut = '... [cut]';
const shortened = (text: string): string => (text.length > longestArguments ? `${text.slice(0, 2_000)}${cut}` : text);

function unusedId(stage: Stage, wanted: string): string {
  return stage.usedCallIds.has(wanted) ? unusedId(stage, `${wanted}_`) : wanted;
}

export async function runToolRound(
  stage: Stage,
  part: Part,
  calls: readonly RecordedToolCall[],
  round: number,
  turnCalls: TurnCalls,
): Promise<RoundOutcome> {
  const work = new ToolRound(stage, part, round, turnCalls);
  for (const [at, call] of calls.entries()) await work.take(call, at + 1, calls[at + 1]);
  return work.finish(calls);
}

class ToolRound {
  readonly #stage: Stage;
  readonly #part: Part;
  readonly #round: number;
  readonly #turn: TurnCalls;
  readonly #results: Json[] = [];
  #toolMs: Millis = 0;
  #waiting: { readonly position: number; readonly call: RecordedToolCall; readonly outcome: Promise<ToolOutcome> }[] =
    [];
  #handoff: RoundOutcome['handoff'];
  #ended: RoundOutcome['ended'];
  #ending: Ending | undefined;
  #malformed = false;

  constructor(stage: Stage, part: Part, round: number, turn: TurnCalls) {
    this.#stage = stage;
    this.#part = part;
    this.#round = round;
    this.#turn = turn;
  }

  /** Runs one call, or starts it beside its neighbours when its tool allows that. */
  async take(call: RecordedToolCall, position: number, next: RecordedToolCall | undefined): Promise<void> {
    const { name } = call.function;
    this.#stage.ledger.countTool(name);
    const refusal = this.#refusal(call) ?? this.#unoffered(name);
    if (refusal !== undefined) this.#fail(position, call, refusal);
    else if (name === endCallName) this.#endCall(position, call);
    else if (isHandoff(name)) this.#handOver(position, call);
    else {
      this.#start(position, call);
      const { emulator } = this.#stage;
      const beside = next !== undefined && emulator.isParallel(name) && emulator.isParallel(next.function.name);
      if (!beside) await this.#collect();
    }
  }

  async finish(calls: readonly RecordedToolCall[]): Promise<RoundOutcome> {
    await this.#collect();
    this.#turn.malformedInARow = this.#malformed ? this.#turn.malformedInARow + 1 : 0;
    if (this.#turn.malformedInARow > repairs)
      this.#ending ??= looping(
        `${this.#part.speaker} sent unreadable tool arguments ${this.#turn.malformedInARow} times in a row in turn ${this.#stage.turn}.`,
      );
    return {
      calls,
      results: this.#results,
      toolMs: this.#toolMs,
      ...(this.#handoff === undefined ? {} : { handoff: this.#handoff }),
      ...(this.#ended === undefined ? {} : { ended: this.#ended }),
      ...(this.#ending === undefined ? {} : { ending: this.#ending }),
    };
  }

  /** Why the call is not even tried: too many, the same again, no time left. */
  #refusal(call: RecordedToolCall): string | undefined {
    const { limits, turn } = this.#stage;
    const { name } = call.function;
    this.#turn.calls += 1;
    const key = `${this.#part.key}\n${name}\n${call.function.arguments}`;
    this.#turn.sameInARow = key === this.#turn.lastCall ? this.#turn.sameInARow + 1 : 1;
    this.#turn.lastCall = key;
    if (call.function.arguments.endsWith(cut)) return `the arguments are longer than ${longestArguments} characters`;
    if (this.#turn.calls > limits.toolCalls) {
      this.#ending ??= looping(
        `${this.#part.speaker} asked for more than ${limits.toolCalls} tool calls in turn ${turn}.`,
      );
      return `more than ${limits.toolCalls} calls in one turn`;
    }
    if (this.#turn.sameInARow >= limits.identicalCalls) {
      this.#ending ??= looping(
        `${this.#part.speaker} made the same call of "${name}" ${this.#turn.sameInARow} times in a row in turn ${turn}.`,
      );
      return `the same call ${this.#turn.sameInARow} times in a row`;
    }
    if (timeLeft(this.#stage) <= 0) {
      this.#ending ??= timedOut(limits.timeoutMs);
      return 'the time of the conversation is used up';
    }
    return undefined;
  }

  /** Handoffs have messages of their own; everything else must have been offered. */
  #unoffered(name: string): string | undefined {
    if (isHandoff(name) && this.#part.side === 'agent') return undefined;
    const names = this.#part.tools.map((tool) => tool.function.name);
    if (names.includes(name)) return undefined;
    const hint = didYouMean(name, names) ?? `there are: ${names.join(', ') || 'none'}`;
    return `there is no tool "${name.slice(0, 100)}" here (${hint})`;
  }

  #endCall(position: number, call: RecordedToolCall): void {
    const end = readEndCall(call.function.arguments);
    if ('fault' in end) {
      this.#malformed = true;
      this.#fail(position, call, end.fault);
    } else {
      this.#ended ??= { reason: end.reason };
      this.#results[position - 1] = endCallResult(end.reason);
    }
  }

  #handOver(position: number, call: RecordedToolCall): void {
    const handoff = readHandoff(this.#stage.specification, this.#part.key, call.function.name, call.function.arguments);
    if ('fault' in handoff) {
      this.#malformed ||= handoff.malformed === true;
      this.#fail(position, call, handoff.fault, 'handoff');
    } else if (this.#ended !== undefined) {
      this.#fail(position, call, 'the call has been ended', 'handoff');
    } else if (this.#handoff !== undefined) {
      const taken = `the conversation has already been handed over to "${this.#handoff.target}"`;
      this.#fail(position, call, taken, 'handoff');
    } else {
      this.#handoff = handoff;
      this.#results[position - 1] = handoffResult(handoff.target);
    }
  }

  #start(position: number, call: RecordedToolCall): void {
    const { emulator, session, effects } = this.#stage;
    const { name, arguments: text } = call.function;
    this.#stage.onProgress(`turn ${this.#stage.turn} of ${this.#stage.limits.maxTurns}, ${name}`);
    const request = { path: this.#path(position), name, arguments: text, timeoutMs: timeLeft(this.#stage) };
    const outcome = emulator.run(session, request, effects);
    // Collected later in order of position; until then a rejection must not count as unhandled.
    outcome.catch(() => undefined);
    this.#waiting.push({ position, call, outcome });
  }

  async #collect(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    const outcomes = await Promise.all(group.map(({ outcome }) => outcome));
    this.#toolMs += this.#stage.ledger.addToolTimes(outcomes.map(({ times }) => times));
    for (const [at, { position, call }] of group.entries()) {
      const outcome = outcomes[at];
      if (outcome === undefined) continue;
      this.#malformed ||= outcome.malformed === true;
      this.#results[position - 1] = outcome.result;
      if (outcome.fault !== undefined) this.#log(position, call, outcome.fault, 'tool');
    }
  }

  #fail(position: number, call: RecordedToolCall, message: string, kind: 'tool' | 'handoff' = 'tool'): void {
    this.#results[position - 1] = toolError(message);
    this.#log(position, call, message, kind);
  }

  #log(position: number, call: RecordedToolCall, message: string, kind: 'tool' | 'handoff'): void {
    this.#stage.ledger.log({
      turn: this.#stage.turn,
      speaker: this.#part.speaker,
      kind,
      path: this.#path(position),
      message,
      tool: call.function.name,
      arguments: call.function.arguments.slice(0, 2_000),
    });
  }

  #path(position: number): string {
    return `${this.#stage.turn}/${this.#part.key}/${this.#round}/${position}`;
  }
}
