/** Small stand-ins for the rooms around a run: lanes without limits, a prompt runner, a scripted conversation. */
import { hash } from 'node:crypto';
import type { Case, ConversationCase, PromptCase } from '../../src/domain/case.ts';
import { caseIndex, caseKey, laneKey } from '../../src/domain/ids.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { ChatMessage, ModelRequest } from '../../src/domain/message.ts';
import type { CallOptions, Provider } from '../../src/domain/provider.ts';
import type { Outcome, Reply } from '../../src/domain/reply.ts';
import type { Row } from '../../src/domain/row.ts';
import { realClock } from '../../src/platform/clock.ts';
import type { CaseContext, CaseResult, CaseRunners } from '../../src/run/case-runner.ts';
import { Lanes } from '../../src/run/lanes.ts';
import type { LaneCall, ModelLanes } from '../../src/run/model-lanes.ts';
import { promptRunner } from '../../src/run/prompt-case.ts';
import { rowsOf } from '../../src/run/read-run.ts';
import type { RunHost } from '../../src/run/run-plan.ts';
import type { RunStore, Store } from '../../src/store/store.ts';

export const short = (text: string): string => hash('sha256', text, 'hex').slice(0, 12);

/** Lanes with nothing but a cap on calls in flight; first come, first served. */
export function plainLanes(cap = 16): ModelLanes & { started: number } {
  const queue: (() => void)[] = [];
  const controller = new AbortController();
  let inFlight = 0;
  const next = (): void => {
    while (inFlight < cap && queue.length > 0) {
      inFlight++;
      queue.shift()?.();
    }
  };
  const lanes = {
    started: 0,
    open: () => {},
    learned: () => [],
    abort: () => controller.abort(),
    shutdown: () => {},
    async submit(call: LaneCall) {
      const startedAt = Date.now();
      await new Promise<void>((resolve) => {
        queue.push(resolve);
        next();
      });
      lanes.started++;
      const sentAt = Date.now();
      const outcome = await call.perform(controller.signal, () => {});
      inFlight--;
      next();
      const endedAt = Date.now();
      const times = {
        startedAt,
        endedAt,
        queueMs: sentAt - startedAt,
        backoffMs: 0,
        latencyMs: endedAt - sentAt,
        attempts: 1,
      };
      return { outcome, times };
    },
  };
  return lanes;
}

export const reply = (text: string, extra: Partial<Reply> = {}): Reply => ({
  kind: 'reply',
  text,
  output: text,
  toolCalls: [],
  usage: { inputTokens: 10, outputTokens: 5 },
  finishReason: 'stop',
  status: 200,
  raw: JSON.stringify({ text }),
  flags: [],
  cached: false,
  ...extra,
});

export const textOf = (request: ModelRequest): string =>
  request.kind === 'chat' ? (request.prompt ?? JSON.stringify(request.messages)) : request.input;

/** A model whose words depend on nothing but what it was asked. */
export function echoProvider(
  id: string,
  call: (request: ModelRequest, options: CallOptions) => Promise<Outcome> = async (request) =>
    reply(`${id}:${short(textOf(request))}`),
): Provider {
  return {
    id,
    model: id,
    laneKey: laneKey(id),
    nodes: [{ key: id }],
    accounting: {
      name: 'plain',
      reserve: 'expected',
      settle: 'real',
      cachedFactor: 1,
      outputFactor: 1,
      separate: false,
      defaultMaxTokens: 100,
    },
    ceiling: 64,
    call,
    price: (usage) => (usage.inputTokens ?? 0) + 2 * (usage.outputTokens ?? 0),
  };
}

/** `{{name}}` becomes the value; `{{_conversation}}` the earlier outputs. */
export const render = (prompt: string, vars: JsonObject): string =>
  prompt.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => {
    const value = vars[name];
    return typeof value === 'string' ? value : JSON.stringify(value ?? '');
  });

export const prompts: CaseRunners['prompt'] = promptRunner({
  render,
  grade: async ({ case: one, reply: { text } }) => {
    const missing = one.checks.filter(({ value }) => !text.includes(String(value)));
    return {
      pass: missing.length === 0,
      score: missing.length === 0 ? 1 : 0,
      reason: missing.length === 0 ? 'contains it' : 'does not contain it',
    };
  },
});

interface Script {
  readonly turns: number;
  /** Parallel tool calls per turn. */
  readonly tools: number;
}

/** A conversation of so many turns: an agent's words, parallel tools, the client's words, a judge at the end. */
export const scriptedConversation =
  (tool: (args: Json, key: string) => Promise<Json> = async (args) => ({ did: args })): CaseRunners['conversation'] =>
  async (one: ConversationCase, { effects, progress }: CaseContext): Promise<CaseResult> => {
    const { turns, tools } = one.detail as unknown as Script;
    const provider = one.column.provider;
    const messages: ChatMessage[] = [{ role: 'system', content: `play ${one.name} ${one.repeat}` }];
    const ask = async (path: string, role: string): Promise<string> => {
      const request: ModelRequest = { kind: 'chat', messages: [...messages] };
      const { value } = await effects.model(path, { role, provider, request, expectedCalls: turns });
      if (value.kind === 'failure') throw new Error(value.message);
      messages.push({ role: role === 'client' ? 'user' : 'assistant', content: value.text });
      return value.text;
    };
    const session = await effects.uuid('session');
    await effects.now('start');
    for (let turn = 1; turn <= turns; turn++) {
      progress(`turn ${turn} of ${turns}`);
      const said = await ask(`${turn}/agent/0`, 'agent:main');
      const results = await Promise.all(
        Array.from({ length: tools }, (_, at) =>
          effects.perform('tool', `${turn}/agent/0/${at}`, { said, at }, ({ idempotencyKey }) =>
            tool({ said, at }, idempotencyKey),
          ),
        ),
      );
      for (const [at, { value }] of results.entries()) {
        messages.push({ role: 'tool', tool_call_id: `${turn}-${at}`, content: JSON.stringify(value) });
      }
      await ask(`${turn}/client/0`, 'client');
    }
    const verdicts = await Promise.all([0, 1].map((at) => ask(`grade/${at}/0`, 'judge')));
    const output = messages.slice(1, -2).map(({ content }) => content);
    return { status: 'passed', score: 1, output, detail: { verdicts: [...verdicts].sort(), session: session.length } };
  };

export const runners: CaseRunners = { prompt: prompts, conversation: scriptedConversation() };

export const promptCase = (index: number, extra: Partial<PromptCase> = {}): PromptCase => ({
  kind: 'prompt',
  index: caseIndex(index),
  key: caseKey(`case-${index}`),
  name: `case ${index}`,
  column: { position: 0, provider: 'a', prompt: 'q' },
  repeat: 0,
  checks: [{ type: 'contains', value: ':' }],
  prompt: `question ${index}`,
  vars: {},
  ...extra,
});

export const conversationCase = (
  index: number,
  turns: number,
  tools: number,
  extra: Partial<ConversationCase> = {},
): ConversationCase => ({
  kind: 'conversation',
  index: caseIndex(index),
  key: caseKey(`case-${index}`),
  name: `scenario ${index}`,
  column: { position: 1, provider: 'b', prompt: 'spec' },
  repeat: 0,
  checks: [],
  expectedCalls: 2 * turns + 2,
  detail: { turns, tools },
  ...extra,
});

export const hostOf = (store: Store, extra: Partial<RunHost> = {}): RunHost => ({
  store,
  clock: realClock,
  provider: (name) => echoProvider(name),
  lanes: ({ onEvent }) => new Lanes({ clock: realClock, onEvent }),
  runners,
  ...extra,
});

/** A row without what belongs to one execution. */
export function canonical(row: Row): Json {
  const { latencyMs: _l, queueMs: _q, backoffMs: _b, attempts: _a, usage: _u, costUsdMicros: _c, ...rest } = row;
  return JSON.parse(JSON.stringify(rest)) as Json;
}

export async function tableOf(run: RunStore): Promise<Json[]> {
  const table: Json[] = [];
  for await (const row of rowsOf(run)) table.push(canonical(row));
  return table;
}

/** A plan with everything that can go wrong on resume: serial cases, registers, conversation keys, repeats, equal cases, chains. */
export function mixedPlan(count: number): Case[] {
  return Array.from({ length: count }, (_, index): Case => {
    const provider = ['a', 'b', 'c'][index % 3] as string;
    const column = { position: index % 3, provider, prompt: 'q' };
    if (index % 7 === 5)
      return conversationCase(index, 2, 2, { column: { position: 3 + (index % 3), provider, prompt: 'spec' } });
    if (index % 7 === 0) return promptCase(index, { column, serial: true, prompt: 'first {{memo}}', storeAs: 'memo' });
    if (index % 7 === 1) {
      // Four cases to a key: each prompt holds all earlier ones, so a longer chain would double at every step.
      const prompt = `go on ${index} {{_conversation}}`;
      const first = { position: 0, provider: 'a', prompt: 'q' };
      return promptCase(index, { column: first, conversationKey: `k${Math.floor(index / 28)}`, prompt });
    }
    if (index % 7 === 2) return promptCase(index, { column, prompt: 'the same for all', repeat: index % 2 });
    if (index % 7 === 3) return promptCase(index, { column, prompt: 'use {{memo}}', storeAs: 'memo' });
    return promptCase(index, {
      column,
      prompt: `use {{memo}} ${index}`,
      checks: [{ type: 'contains', value: index % 2 ? ':' : 'never' }],
    });
  });
}
