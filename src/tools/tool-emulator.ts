/**
 * The ToolEmulator: runs a tool call against its backend. Its job: arguments checked before anything runs, one answer
 * for every call, whatever the backend does. Not its job: handoffs and `end_call`, which belong to the engine.
 *
 * 1. A call gives a result and never throws, except when the effects themselves do (suspended, aborted).
 * 2. Arguments that are not one JSON object fitting the schema never reach a backend.
 * 3. A backend sees arguments without `execution_message`.
 * 4. The session's world changes only by recorded writes, so a replayed session has the same world.
 */
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import type { CodeRunner } from '../domain/code-runner.ts';
import type { Effects, Recorded } from '../domain/effects.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Millis } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ToolDefinition } from '../domain/message.ts';
import { canonical, type SpecificationSnapshot } from '../prompts/load-specification.ts';
import { compileParameters, validationMessage } from '../prompts/parameter-schema.ts';
import { shippedTools } from '../prompts/shipped-tools.ts';
import type { ToolSpecification } from '../prompts/specification.ts';
import { runHttp } from './http-backend.ts';
import type { HttpPort } from './http-port.ts';
import { parseArguments } from './parse-arguments.ts';
import { parseToolResult, resultText, toolError } from './parse-result.ts';
import { runScript } from './script-backend.ts';
import { runState } from './state-backend.ts';
import { drawFaults, malformedText } from './tool-faults.ts';
import { valueAt, type Write, withWrite } from './world.ts';

/** What tools may do to the world; all of it comes from outside. */
export interface ToolPorts {
  readonly http: HttpPort;
  readonly code: CodeRunner;
  readonly wait: (ms: Millis, signal: AbortSignal) => Promise<void>;
  /** The answer an earlier run recorded for the n-th call of a tool with these arguments; undefined when it has none. */
  readonly recorded?: (
    source: string,
    call: { readonly tool: string; readonly args: JsonObject; readonly number: number },
  ) => Promise<Json | undefined>;
}

/** What the tools know of one conversation. */
export interface ToolSession {
  readonly id: string;
  /** Decides the luck of tools with faults. */
  readonly seed: string;
  world: JsonObject;
  /** Calls so far: per tool, and per tool and arguments. */
  readonly calls: Map<string, number>;
}

export interface ToolRequest {
  readonly path: string;
  readonly name: string;
  /** The model's own text. */
  readonly arguments: string;
  /** Working time left. */
  readonly timeoutMs: Millis;
}

export interface ToolOutcome {
  readonly result: Json;
  /** Set when the call failed: what went wrong, without the contract's prefix. */
  readonly fault?: string;
  /** True when the model's arguments were unreadable, so that it was asked to repair them. */
  readonly malformed?: boolean;
  readonly times?: Recorded<Json>['times'];
}

const defaultTimeoutMs = 30_000;

/** Which call of the session this is: among all of its tool, and among those with the same arguments. */
interface CallCount {
  readonly number: number;
  readonly same: number;
}

function counted({ calls }: ToolSession, what: string): number {
  const number = (calls.get(what) ?? 0) + 1;
  calls.set(what, number);
  return number;
}

export class ToolEmulator {
  readonly #tools: ReadonlyMap<string, ToolSpecification>;
  readonly #snapshot: SpecificationSnapshot;
  readonly #ports: ToolPorts;

  constructor(snapshot: SpecificationSnapshot, ports: ToolPorts) {
    this.#snapshot = snapshot;
    this.#ports = ports;
    this.#tools = new Map(Object.entries({ ...shippedTools, ...snapshot.specification.tools }));
  }

  /** The tools as they are offered to a model. */
  definitions(names: readonly string[]): ToolDefinition[] {
    return names.flatMap((name) => {
      const tool = this.#tools.get(name);
      if (tool === undefined) return [];
      const { description, parameters } = tool;
      return [{ type: 'function', function: { name, description, parameters } }];
    });
  }

  /** Whether calls of this tool may run beside other calls of the same response. */
  isParallel(name: string): boolean {
    const tool = this.#tools.get(name);
    return tool?.parallel === true && tool.backend.state === undefined && tool.backend.script === undefined;
  }

  /** Opens the tools of one conversation, with a world of its own. */
  openSession(id: string, seed: string): ToolSession {
    let world: JsonObject = this.#snapshot.specification.world ?? {};
    for (const specification of this.#tools.values()) {
      const { state } = specification.backend;
      if (state?.initial === undefined || state.at.includes('{') || !this.#isUsed(specification)) continue;
      const at = state.at.split('.');
      if (valueAt(world, at) === undefined) world = withWrite(world, { at, value: state.initial });
    }
    return { id, seed, world, calls: new Map() };
  }

  #isUsed(specification: ToolSpecification): boolean {
    const used = Object.values(this.#snapshot.specification.agents).flatMap(({ tools }) => tools);
    return used.some((name) => this.#tools.get(name) === specification);
  }

  /** Runs one call. The caller has checked that the agent may use the tool. */
  async run(session: ToolSession, request: ToolRequest, effects: Effects): Promise<ToolOutcome> {
    const tool = this.#tools.get(request.name);
    if (tool === undefined) return failed(`there is no tool "${request.name}"`);
    const parsed = parseArguments(request.arguments);
    if ('fault' in parsed) return { ...failed(parsed.fault), malformed: true };
    const { execution_message: _, ...bare } = parsed.args;
    const declared = Object.hasOwn(Object(tool.parameters['properties']), 'execution_message');
    const validate = compiled(request.name, tool);
    if (!validate(declared ? parsed.args : bare)) return failed(validationMessage(validate.errors ?? []));
    const number = counted(session, request.name);
    const isReplayed = tool.backend.replay !== undefined;
    const same = isReplayed ? counted(session, `${request.name}\n${canonical(bare)}`) : number;
    const recorded = await effects.perform(
      'tool',
      request.path,
      { tool: request.name, session_id: session.id, arguments: bare },
      (options) => this.#answer(tool, bare, { number, same }, session, request, options),
    );
    return this.#settle(session, recorded);
  }

  #settle(session: ToolSession, recorded: Recorded<JsonObject>): ToolOutcome {
    const { value, times } = recorded;
    const write = value['write'];
    // Kept as text: the order of keys is part of what models will see, and a store may not keep it.
    if (typeof write === 'string') session.world = withWrite(session.world, JSON.parse(write) as Write);
    if (typeof value['error'] === 'string') return { ...failed(value['error']), times };
    return { result: parseToolResult(String(value['text'])), times };
  }

  /** The recorded answer: `{text}` or `{error}`, with the write it made. Everything a backend can do wrong ends here. */
  async #answer(
    specification: ToolSpecification,
    args: JsonObject,
    calls: CallCount,
    session: ToolSession,
    request: ToolRequest,
    options: { readonly signal: AbortSignal; readonly idempotencyKey: string },
  ): Promise<JsonObject> {
    const faults = specification.backend.faults;
    const draw = faults === undefined ? undefined : drawFaults(faults, `${session.seed}|${request.path}`);
    try {
      if (draw !== undefined && draw.delayMs > 0) await this.#ports.wait(draw.delayMs, options.signal);
      if (draw?.error === true) return { error: 'the tool is out of order (a fault on demand)' };
      const answer = await this.#ask(specification, args, calls, session, request, options);
      const text = resultText(answer.value);
      if ('fault' in text) return { error: text.fault };
      const said = draw?.malformed === true ? malformedText(text.text) : text.text;
      return answer.write === undefined ? { text: said } : { text: said, write: JSON.stringify(answer.write) };
    } catch (error) {
      return { error: (error instanceof Error ? error.message : String(error)).toWellFormed() };
    }
  }

  async #ask(
    { backend, timeoutMs }: ToolSpecification,
    args: JsonObject,
    calls: CallCount,
    session: ToolSession,
    request: ToolRequest,
    options: { readonly signal: AbortSignal; readonly idempotencyKey: string },
  ): Promise<{ readonly value: unknown; readonly write?: Write }> {
    const limit = Math.max(1, Math.min(timeoutMs ?? backend.http?.timeoutMs ?? defaultTimeoutMs, request.timeoutMs));
    const { number, same } = calls;
    const call = { session_id: session.id, tool: request.name, path: request.path, call_number: number };
    if (backend.state !== undefined) return runState(backend.state, args, session.world);
    if (backend.script !== undefined) return { value: runScript(backend.script, args, number, session.world) };
    if (backend.http !== undefined) {
      const { url, headers } = backend.http;
      return { value: await runHttp({ url, headers, call, args, timeoutMs: limit, ...options }, this.#ports) };
    }
    if (backend.module !== undefined)
      return {
        value: await this.#runModule(
          backend.module,
          args,
          { ...call, state: session.world, idempotency_key: options.idempotencyKey },
          limit,
          options.signal,
        ),
      };
    if (backend.replay !== undefined) return { value: await this.#runReplay(backend.replay, request.name, args, same) };
    return { value: backend.static };
  }

  async #runModule(
    module: string,
    args: JsonObject,
    context: JsonObject,
    timeoutMs: Millis,
    signal: AbortSignal,
  ): Promise<unknown> {
    const [file = '', functionName = 'default'] = module.split('#');
    const code = {
      kind: 'file',
      language: 'javascript',
      path: join(this.#snapshot.folder, file),
      functionName,
    } as const;
    const outcome = await this.#ports.code.run({ code, args: [args, context], timeoutMs }, { signal });
    if (outcome.kind === 'returned') return outcome.value;
    throw new Error(outcome.message);
  }

  async #runReplay(source: string, tool: string, args: JsonObject, number: number): Promise<Json> {
    const answer = await this.#ports.recorded?.(source, { tool, args, number });
    if (answer !== undefined) return answer;
    const shown = JSON.stringify(args).slice(0, 500);
    throw new Error(`the recording "${source}" has no answer for call ${number} of "${tool}" with ${shown}`);
  }
}

const failed = (fault: string): ToolOutcome => ({ result: toolError(fault), fault });

function compiled(name: string, specification: ToolSpecification): ValidateFunction {
  try {
    return compileParameters(specification.parameters);
  } catch (error) {
    throw new ParlaneError(
      'tool/schema',
      `The parameters of the tool "${name}" are not a JSON Schema: ${String(error)}.`,
      'Correct them in the specification.',
      { name },
    );
  }
}
