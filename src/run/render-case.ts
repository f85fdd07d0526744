/**
 * A prompt case -> the prompt as it is sent. Vars are loaded from their files, a prompt function is called, then the
 * templates are rendered. Registers and history are values, never templates.
 */
import type { ConfigFiles } from '../config/config-files.ts';
import { loadVars } from '../config/load-vars.ts';
import type { PromptCase } from '../domain/case.ts';
import type { CodeRunner } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import { type EvalDetail, evalDetail } from '../domain/eval-case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { runProgram } from '../platform/run-program.ts';
import { type EvalTemplates, resolveVars } from '../prompts/eval-template.ts';

export interface Rendering {
  readonly files: ConfigFiles;
  readonly code: CodeRunner;
  readonly templates: EvalTemplates;
  /** Where relative paths start. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly evalId?: string;
  readonly mediaAsText?: boolean;
}

/** One earlier exchange of the same conversation. */
export interface Exchange {
  readonly prompt: Json;
  readonly input: Json;
  readonly output: Json;
  readonly metadata?: Json;
}

export interface RenderedCase {
  readonly prompt: string;
  /** What the prompt was rendered with; runtime vars taken out. */
  readonly vars: JsonObject;
  /** The prompt's config with the test's options over it: parameters of the call. */
  readonly promptConfig: JsonObject;
}

const runtimeVars = new Set(['__evalId', '__evalStepId', '__repeatIndex']);

function startingVars(
  planned: PromptCase,
  detail: EvalDetail,
  registers: JsonObject,
  history: readonly Exchange[],
  evalId?: string,
): JsonObject {
  return {
    ...planned.vars,
    ...(evalId === undefined ? {} : { __evalId: evalId }),
    __evalStepId: `test-${detail.testIdx}-prompt-${detail.promptIdx}-repeat-${planned.repeat}`,
    __repeatIndex: planned.repeat,
    ...registers,
    ...(detail.usesConversation ? { _conversation: history as unknown as Json } : {}),
  };
}

/** Renders one case. `registers` are the outputs its column kept, `history` its conversation so far. */
export async function renderCase(
  planned: PromptCase,
  registers: JsonObject,
  history: readonly Exchange[],
  rendering: Rendering,
): Promise<RenderedCase> {
  const detail = evalDetail(planned);
  const literal = new Set([...Object.keys(registers), '_conversation']);
  const start = startingVars(planned, detail, registers, history, rendering.evalId);
  const { files, code, folder, signal, mediaAsText } = rendering;
  const media = mediaAsText === undefined ? {} : { mediaAsText };
  const loaded = await loadVars(start, planned.prompt, literal, {
    files,
    code,
    folder,
    signal,
    provider: detail.provider,
    ...media,
  });
  const made = await promptFromCode(planned, detail, loaded, rendering);
  const prompt = await rendering.templates.renderPrompt(made.raw, loaded, literal);
  const seen = resolveVars(loaded, literal).vars;
  const vars = Object.fromEntries(Object.entries(seen).filter(([name]) => !runtimeVars.has(name)));
  const { repeat: _, ...options } = detail.test.options ?? {};
  return { prompt, vars, promptConfig: { ...detail.prompt.config, ...made.config, ...options } };
}

interface Made {
  readonly raw: string;
  readonly config?: JsonObject;
}

async function promptFromCode(
  planned: PromptCase,
  detail: EvalDetail,
  vars: JsonObject,
  rendering: Rendering,
): Promise<Made> {
  const { code, config = {} } = detail.prompt;
  if (code === undefined) return { raw: planned.prompt };
  const { id, label } = detail.provider;
  const context = { vars, provider: { id, ...(label === undefined ? {} : { label }) }, config };
  if (code.kind === 'program') {
    const [program = '', ...args] = code.command.split(' ');
    const limits = { cwd: rendering.folder, signal: rendering.signal, timeoutMs: 60_000 };
    return { raw: (await runProgram(program, [...args, JSON.stringify(context)], limits)).trimEnd() };
  }
  const outcome = await rendering.code.run({ code, args: [context] }, { signal: rendering.signal });
  if (outcome.kind !== 'returned') throw failed(detail, outcome.message);
  return asPrompt(outcome.value, detail);
}

const failed = (detail: EvalDetail, why: string): ParlaneError =>
  new ParlaneError('eval/prompt-function', `The prompt function ${detail.prompt.label} failed: ${why}.`, '', {});

/** Text, messages, or `{prompt, config}`. */
function asPrompt(value: unknown, detail: EvalDetail): Made {
  if (typeof value === 'string') return { raw: value };
  if (typeof value !== 'object' || value === null)
    throw failed(detail, `it must return text or an object, not ${typeof value}`);
  if (!('prompt' in value)) return { raw: JSON.stringify(value) };
  const { prompt, config } = value as { prompt: unknown; config?: JsonObject };
  return {
    raw: typeof prompt === 'string' ? prompt : JSON.stringify(prompt),
    ...(config === undefined ? {} : { config }),
  };
}

/** What a finished call adds to its conversation's history. */
export function exchangeOf(prompt: string, output: Json | undefined, metadata: Json | undefined): Exchange {
  const parsed = asJson(prompt);
  const last = Array.isArray(parsed) ? parsed.at(-1) : undefined;
  const content =
    typeof last === 'object' && last !== null && 'content' in last ? (last as JsonObject)['content'] : undefined;
  return {
    prompt: parsed || prompt,
    input: content || last || parsed || prompt,
    output: output || '',
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function asJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
