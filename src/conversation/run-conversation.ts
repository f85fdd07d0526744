/**
 * The turn loop. Its job: play one scenario from the first word to the end and give the contract's result. Not its job:
 * time, randomness, network, money, journal: all of them are effects and come as an argument.
 *
 * 1. There is one loop. "Without tools" is an empty tool list.
 * 2. Every effect has a path that is fixed when it is issued; nothing else reads time or randomness. Given the same
 *    recorded effects, the result is the same.
 * 3. Every outcome is a result with all fields of the contract, the history so far included. Only what the effects
 *    themselves throw (a replay that differs, a store that broke) goes through to the caller.
 * 4. A turn is one agent reply and one client reply with the same number, from 1; `total_turns` counts turns begun.
 */
import type { ConversationResult, HistoryEntry } from '../domain/conversation-result.ts';
import type { Effects } from '../domain/effects.ts';
import type { EpochMillis } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import { entryOf } from '../prompts/specification.ts';
import { TemplateError } from '../prompts/template.ts';
import { ToolEmulator, type ToolSession } from '../tools/tool-emulator.ts';
import { buildResult } from './build-result.ts';
import { type ClientMove, clientGreeting, clientMoves, renderPrompts, templateValues } from './cast.ts';
import { Contexts } from './contexts.ts';
import { endCallName, endCallResult } from './end-call.ts';
import { aborted, type Ending, looping } from './ending.ts';
import { isoTime, scriptedEntry } from './entry-draft.ts';
import { Ledger } from './ledger.ts';
import { openSession } from './open-session.ts';
import { type ConversationPorts, type ConversationSetup, checkSetup, limitsOf } from './setup.ts';
import { speak } from './speak.ts';
import { agentPart, clientPart, type Stage } from './stage.ts';
import { freshTurn } from './tool-round.ts';

/** Plays one conversation. Throws only for a setup that cannot be played at all, before anything is sent. */
export async function runConversation(
  setup: ConversationSetup,
  effects: Effects,
  ports: ConversationPorts,
): Promise<ConversationResult> {
  checkSetup(setup);
  const play = new Play(setup, effects, ports);
  try {
    return await play.run();
  } finally {
    play.leave();
  }
}

/** Stands for the session id of a conversation that was cancelled before it had one. */
const unopened = 'not-opened';

class Play {
  readonly #setup: ConversationSetup;
  readonly #effects: Effects;
  readonly #ports: ConversationPorts;
  readonly #ledger: Ledger;
  readonly #history: HistoryEntry[] = [];
  /** What an effect threw, if one did: told apart from faults of our own. */
  #thrown: unknown;
  #startedAt: EpochMillis = 0;
  #sessionId = unopened;
  #variables: JsonObject;
  #session: ToolSession | undefined;
  #stage: Stage | undefined;

  constructor(setup: ConversationSetup, effects: Effects, ports: ConversationPorts) {
    this.#setup = setup;
    this.#ports = ports;
    this.#effects = this.#watched(effects);
    this.#ledger = new Ledger(entryOf(setup.snapshot.specification));
    this.#variables = setup.scenario.variables;
  }

  async run(): Promise<ConversationResult> {
    const ending = await this.#play();
    const cancelled = ending === aborted || this.#effects.signal.aborted;
    const endedAt = cancelled ? this.#ledger.lastKnownAt : await this.#effects.now(`${this.#stage?.turn ?? 0}/end`);
    return buildResult({
      setup: this.#setup,
      sessionId: this.#sessionId,
      variables: this.#variables,
      turns: this.#stage?.turn ?? 0,
      history: this.#history,
      ledger: this.#ledger,
      world: this.#hasWorld() ? this.#session?.world : undefined,
      startedAt: this.#startedAt,
      endedAt,
      pausedMs: this.#effects.pausedMs?.() ?? 0,
      ending,
    });
  }

  leave(): void {
    this.#ports.liveSessions?.release(this.#sessionId);
  }

  async #play(): Promise<Ending> {
    try {
      return (await this.#open()) ?? (await this.#turns());
    } catch (error) {
      if (this.#effects.signal.aborted && this.#startedAt !== 0) return aborted;
      if (error === this.#thrown) throw error;
      return brokenBy(error);
    }
  }

  async #open(): Promise<Ending | undefined> {
    const { scenario, snapshot, useTools } = this.#setup;
    this.#startedAt = await this.#effects.now('start');
    this.#ledger.lastKnownAt = this.#startedAt;
    const opened = await openSession(this.#setup, this.#effects, this.#ports);
    this.#sessionId = opened.id;
    this.#variables = opened.variables;
    this.#ledger.warnings.push(...opened.warnings);
    if (opened.ending !== undefined) return opened.ending;
    const values = templateValues(scenario, opened.variables, {
      sessionId: opened.id,
      date: isoTime(this.#startedAt).slice(0, 10),
      useTools,
      endMarker: snapshot.specification.end_marker,
    });
    this.#stage = this.#build(renderPrompts(scenario, snapshot.specification, values));
    this.#moves = clientMoves(scenario, values);
    this.#greeting = clientGreeting(values);
    return undefined;
  }

  #moves: (turn: number) => ClientMove = () => ({ kind: 'model' });
  #greeting: string | undefined;

  #build(prompts: Record<string, string>): Stage {
    const { specification } = this.#setup.snapshot;
    const { scenario } = this.#setup;
    const seed = scenario.variables['SEED'];
    const emulator = new ToolEmulator(this.#setup.snapshot, this.#ports);
    this.#session = emulator.openSession(
      this.#sessionId,
      typeof seed === 'number' ? `${scenario.name}|${seed}` : this.#sessionId,
    );
    return {
      setup: this.#setup,
      specification,
      limits: limitsOf(this.#setup),
      effects: this.#effects,
      emulator,
      session: this.#session,
      contexts: new Contexts(prompts),
      ledger: this.#ledger,
      history: this.#history,
      usedCallIds: new Set(),
      seed: typeof seed === 'number' ? seed : undefined,
      onProgress: (note) => this.#ports.onProgress?.(note),
      turn: 0,
      holder: entryOf(specification),
    };
  }

  async #turns(): Promise<Ending> {
    const stage = this.#stage;
    if (stage === undefined) throw new Error('a conversation has a stage before its first turn');
    const { scenario, snapshot, firstSpeaker } = this.#setup;
    const own = scenario['first_speaker'];
    const said = own === 'client' || own === 'agent' ? own : this.#setup.batch?.firstSpeaker;
    const first = firstSpeaker ?? said ?? snapshot.specification.first_speaker ?? 'agent';
    const sides = first === 'agent' ? [playAgents, this.#playClient] : [this.#playClient, playAgents];
    while (stage.turn < stage.limits.maxTurns) {
      stage.turn += 1;
      stage.onProgress(`turn ${stage.turn} of ${stage.limits.maxTurns}`);
      for (const side of sides) {
        const ending = await side(stage);
        if (ending !== undefined) return ending;
      }
    }
    return { reason: 'max_turns' };
  }

  readonly #playClient = async (stage: Stage): Promise<Ending | undefined> => {
    const first = this.#history.length === 0 ? this.#greeting : undefined;
    const told = this.#setup.clientSays?.[stage.turn] ?? first;
    const move: ClientMove = told === undefined ? this.#moves(stage.turn) : { kind: 'say', text: told };
    if (move.kind === 'model') {
      const spoken = await speak(stage, clientPart(stage), freshTurn());
      if (spoken.words !== '') stage.contexts.clientSpoke(spoken.words, stage.holder);
      else if (spoken.ending === undefined)
        stage.contexts.clientSpoke(stage.history.at(-1)?.content ?? '', stage.holder);
      return spoken.ending;
    }
    const at = await stage.effects.now(`${stage.turn}/client/1/0`);
    return move.kind === 'say' ? sayLine(stage, move.text, at) : hangUp(stage, at);
  };

  #hasWorld(): boolean {
    return this.#session !== undefined && Object.keys(this.#session.world).length > 0;
  }

  /** The same effects, remembering what they throw. */
  #watched(effects: Effects): Effects {
    const watch = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        this.#thrown = error;
        throw error;
      }
    };
    return {
      signal: effects.signal,
      model: (path, call) => watch(effects.model(path, call)),
      perform: (kind, path, request, effect) => watch(effects.perform(kind, path, request, effect)),
      now: (path) => watch(effects.now(path)),
      pausedMs: () => effects.pausedMs?.() ?? 0,
      uuid: (path) => watch(effects.uuid(path)),
    };
  }
}

/** The agents' part of a turn: whoever holds the conversation, and whoever it is handed over to. */
async function playAgents(stage: Stage): Promise<Ending | undefined> {
  const turnCalls = freshTurn();
  const said: string[] = [];
  for (;;) {
    const part = agentPart(stage);
    const spoken = await speak(stage, part, turnCalls);
    said.push(spoken.words);
    stage.contexts.agentSpoke(part.key, stage.specification.agents[part.key]?.name ?? part.key, spoken.words);
    if (spoken.ending !== undefined) return spoken.ending;
    if (spoken.handoff === undefined) break;
    const { target, reason, context } = spoken.handoff;
    stage.ledger.addHandoff(part.key, target);
    if (turnCalls.calls > stage.limits.toolCalls)
      return looping(`More than ${stage.limits.toolCalls} tool calls in turn ${stage.turn}.`);
    stage.contexts.handOver(part.key, target, reason, context);
    stage.holder = target;
  }
  stage.contexts.tellClient(said);
  return undefined;
}

function sayLine(stage: Stage, text: string, at: EpochMillis): undefined {
  stage.history.push(scriptedEntry(stage.turn, text, at));
  stage.contexts.add('client', { role: 'assistant', content: text });
  stage.contexts.clientSpoke(text, stage.holder);
}

/** A script that has said its last line ends the call, in the way the conversation can be ended. */
function hangUp(stage: Stage, at: EpochMillis): Ending {
  const reason = 'script finished';
  const content = `[ended the call: ${reason}]`;
  if (!stage.setup.useTools) {
    stage.history.push(scriptedEntry(stage.turn, content, at));
    return { reason: 'end_marker' };
  }
  const call = {
    id: `call_${stage.turn}_script`,
    type: 'function',
    function: { name: endCallName, arguments: JSON.stringify({ reason }) },
  } as const;
  stage.ledger.countTool(endCallName);
  stage.history.push(scriptedEntry(stage.turn, content, at, [call], [endCallResult(reason)]));
  return { reason: 'end_call_client' };
}

function brokenBy(error: unknown): Ending {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof TemplateError)
    return { reason: 'error', error: message, errorType: 'TemplateError', errorCode: 'template' };
  return {
    reason: 'error',
    error: message,
    errorType: error instanceof Error ? error.name : 'Error',
    errorCode: 'internal',
  };
}
