/**
 * Answers of tools as an earlier run recorded them: what `backend: {replay: <run>}` gives back.
 *
 * 1. A run is read once. Conversations are read from their results, tests with a simulated user from their journal.
 * 2. A call is looked up by tool and arguments: first in the recording of the same case (name, repeat, column), then of
 *    the same name, then in any other.
 * 3. Within one recording the n-th such call of a session gets the n-th answer, and after the last the last.
 */
import { type ConversationResult, resultOf } from '../domain/conversation-result.ts';
import { evalDetail } from '../domain/eval-case.ts';
import { runId } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import { canonical } from '../prompts/load-specification.ts';
import type { RunStore, Store } from '../store/store.ts';
import { parseArguments } from '../tools/parse-arguments.ts';
import { toolError } from '../tools/parse-result.ts';
import type { ToolPorts } from '../tools/tool-emulator.ts';
import { rowsOf } from './read-run.ts';
import { agentsOf } from './simulated-user-config.ts';

/** Answers as text, so that they are parsed to the same values again; by tool and arguments. */
type Answers = Map<string, string[]>;

/** Which case asks: what is the same in the run that recorded and in the one that replays. */
export interface AskingCase {
  readonly name: string;
  readonly repeat: number;
  /** Its column's position. */
  readonly column: number;
}

interface Recording {
  readonly tools: ReadonlySet<string>;
  /** Of one case, of all with its name, of the whole run. */
  readonly levels: ReadonlyMap<string, Answers>;
}

const keyOf = (tool: string, args: JsonObject): string => `${tool}\n${canonical(args)}`;

const levelsOf = ({ name, repeat, column }: AskingCase): string[] => [
  JSON.stringify([name, repeat, column]),
  JSON.stringify([name, repeat]),
  JSON.stringify([name]),
  '',
];

const add = (answers: Answers, key: string, text: string): void => {
  const known = answers.get(key);
  if (known === undefined) answers.set(key, [text]);
  else known.push(text);
};

function answersOfResult(result: ConversationResult): Answers {
  const answers: Answers = new Map();
  for (const entry of result.conversation_history) {
    const results = entry.tool_results ?? entry.client_tool_results ?? [];
    for (const [at, call] of (entry.tool_calls ?? []).entries()) {
      const parsed = parseArguments(call.function.arguments);
      if ('fault' in parsed) continue;
      const { execution_message: _, ...args } = parsed.args;
      add(answers, keyOf(call.function.name, args), JSON.stringify(results[at] ?? null));
    }
  }
  return answers;
}

interface ToolStep {
  readonly tool: string;
  readonly arguments: JsonObject;
}

async function answersOfJournal(run: RunStore, { index }: Row): Promise<Answers> {
  const answers: Answers = new Map();
  const planned = await run.case(index);
  if (planned?.kind !== 'prompt' || agentsOf(evalDetail(planned).test.provider) === undefined) return answers;
  for (const { kind, request, answer } of await run.steps(index)) {
    if (kind !== 'tool' || answer === undefined) continue;
    const { tool, arguments: args } = request as unknown as ToolStep;
    const { text, error } = answer.value as { readonly text?: Json; readonly error?: Json };
    add(answers, keyOf(tool, args), typeof text === 'string' ? text : JSON.stringify(toolError(String(error))));
  }
  return answers;
}

async function read(run: RunStore): Promise<Recording> {
  const levels = new Map<string, Answers>();
  const tools = new Set<string>();
  for await (const row of rowsOf(run)) {
    const result = resultOf(row);
    const answers = result === undefined ? await answersOfJournal(run, row) : answersOfResult(result);
    for (const key of answers.keys()) tools.add(key.slice(0, key.indexOf('\n')));
    for (const level of levelsOf(row)) {
      const known = levels.get(level) ?? new Map();
      levels.set(level, known);
      // Answers of two sessions are never mixed: the first recording that has the call stands for it.
      for (const [key, texts] of answers) if (!known.has(key)) known.set(key, texts);
    }
  }
  return { tools, levels };
}

/** The recordings that the tools of one run may name: the runs of its own store. */
export class Recordings {
  readonly #store: Store;
  readonly #read = new Map<string, Promise<Recording | undefined>>();

  constructor(store: Store) {
    this.#store = store;
  }

  get location(): string {
    return this.#store.location;
  }

  /** The tools of which a run holds answers; undefined when the store has no such run. */
  async tools(source: string): Promise<ReadonlySet<string> | undefined> {
    return (await this.#recording(source))?.tools;
  }

  async runs(): Promise<string[]> {
    return (await this.#store.runs()).map(({ id }) => id);
  }

  /** The port through which the tools of a case find their answers. */
  answersFor(one: AskingCase): NonNullable<ToolPorts['recorded']> {
    return async (source, { tool, args, number }) => {
      const recording = await this.#recording(source);
      const key = keyOf(tool, args);
      for (const level of levelsOf(one)) {
        const found = recording?.levels.get(level)?.get(key);
        if (found !== undefined) return found[Math.min(number, found.length) - 1];
      }
      return undefined;
    };
  }

  #recording(source: string): Promise<Recording | undefined> {
    const known = this.#read.get(source) ?? this.#open(source);
    this.#read.set(source, known);
    return known;
  }

  async #open(source: string): Promise<Recording | undefined> {
    const run = await this.#store.openRun(runId(source));
    return run === undefined ? undefined : read(run);
  }
}
