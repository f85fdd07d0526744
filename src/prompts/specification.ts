import { z } from 'zod';
import type { Json, JsonObject } from '../domain/json.ts';

/** The prompt specification as its file holds it: who takes part, with which words, tools and models. */

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json) as z.ZodType<JsonObject>;
const text = z.string().min(1);

const modelChoice = z.union([
  text,
  z.strictObject({ provider: text, model: text.optional(), temperature: z.number().min(0).max(2).optional() }),
]);

const agent = z.strictObject({
  name: text,
  prompt: text,
  tools: z.array(text).default([]),
  description: z.string().optional(),
  /** Target agent -> when to hand over. */
  handoffs: z.record(z.string(), z.string()).optional(),
  model: modelChoice.optional(),
  temperature: z.number().min(0).max(2).optional(),
});

const faults = z.strictObject({
  errorRate: z.number().min(0).max(1).optional(),
  delayMs: z.number().int().min(0).max(600_000).optional(),
  malformedRate: z.number().min(0).max(1).optional(),
});

const scriptRule = z.strictObject({
  when: z
    .strictObject({
      args: jsonObject.optional(),
      calls: z
        .union([
          z.number().int().min(1),
          z.strictObject({ min: z.number().int().optional(), max: z.number().int().optional() }),
        ])
        .optional(),
      state: jsonObject.optional(),
    })
    .default({}),
  reply: json,
});

const stateAction = z.strictObject({
  do: z.enum(['get', 'set', 'list', 'insert', 'remove']),
  at: text,
  /** Put at `at` when the session starts, unless the world already has something there. */
  initial: json.optional(),
  /** For `set`: the argument to store; all arguments when absent. */
  from: text.optional(),
  /** For `insert` and `remove`: the field that tells items apart. */
  key: text.optional(),
  /** For `list`: which argument searches in which fields. */
  search: z.strictObject({ by: text, in: z.array(text).min(1) }).optional(),
  /** The answer's text, a template over `args`, `value` and `state`; the value itself when absent. */
  reply: text.optional(),
});

const backendKinds = {
  static: json,
  script: z.array(scriptRule).min(1),
  state: stateAction,
  http: z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).optional(),
    timeoutMs: z.number().int().min(1).max(600_000).optional(),
  }),
  module: text,
  replay: text,
} as const;

const backend = z.strictObject({
  static: backendKinds.static.optional(),
  script: backendKinds.script.optional(),
  state: backendKinds.state.optional(),
  http: backendKinds.http.optional(),
  module: backendKinds.module.optional(),
  replay: backendKinds.replay.optional(),
  faults: faults.optional(),
});

const tool = z.strictObject({
  description: z.string(),
  parameters: jsonObject.default({ type: 'object', properties: {} }),
  parallel: z.boolean().optional(),
  timeoutMs: z.number().int().min(1).max(600_000).optional(),
  backend,
});

const judge = z.strictObject({
  rubric: z.string().optional(),
  scale: z.strictObject({ min: z.number().int(), max: z.number().int() }).optional(),
  /** Criteria scored one by one, each on the scale; the score is their mean. */
  criteria: z.record(z.string(), z.string()).optional(),
  /** The lowest score that counts as success; the top of the scale when absent. */
  pass_at: z.number().optional(),
});

export const specificationSchema = z.strictObject({
  name: text,
  version: z.union([text, z.number()]).transform(String),
  description: z.string().optional(),
  entry: text.optional(),
  agents: z.record(z.string(), agent),
  tools: z.record(z.string(), tool).optional(),
  world: jsonObject.optional(),
  end_marker: text.optional(),
  first_speaker: z.enum(['agent', 'client']).optional(),
  judge: judge.optional(),
});

export type Specification = z.infer<typeof specificationSchema>;
export type AgentSpecification = z.infer<typeof agent>;
export type ToolSpecification = z.infer<typeof tool>;
export type ToolBackend = z.infer<typeof backend>;
export type ToolFaults = z.infer<typeof faults>;
export type StateAction = z.infer<typeof stateAction>;
export type ScriptRule = z.infer<typeof scriptRule>;
export type JudgeSpecification = z.infer<typeof judge>;

/** The parts that are not agents of the conversation and can never be handed over to. */
export const notAgents: ReadonlySet<string> = new Set(['client', 'evaluator']);

/** The key of the agent that starts. */
export const entryOf = (specification: Specification): string => specification.entry ?? 'agent';

/** Names every template may use besides the scenario's own variables. */
export const providedVariables = ['session_id', 'current_date', 'scenario_name', 'use_tools', 'end_marker'] as const;
