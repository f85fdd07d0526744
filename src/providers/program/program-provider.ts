import { availableParallelism } from 'node:os';
import type { CodeOutcome } from '../../domain/code-runner.ts';
import { assertNever } from '../../domain/errors.ts';
import { laneKey } from '../../domain/ids.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import type { Provider } from '../../domain/provider.ts';
import type { Outcome } from '../../domain/reply.ts';
import { accountingProfiles } from '../accounting.ts';
import type { ProviderOptions } from '../provider-factory.ts';
import { programFailure, readResponse } from './read-response.ts';

/** Two minutes, unless `config.timeout` says otherwise. */
const defaultTimeoutMs = 120_000;

export function timeoutOf(config: JsonObject | undefined): number {
  const told = config?.['timeout'];
  return typeof told === 'number' && told > 0 ? told : defaultTimeoutMs;
}

/** The text that a program gets: the prompt as written, or the messages as JSON. */
export const promptOf = (request: ModelRequest): string =>
  request.kind === 'chat' ? (request.prompt ?? JSON.stringify(request.messages ?? [])) : request.input;

/** What a program may look at beside the prompt. */
export function contextOf(request: ModelRequest): { [key: string]: Json } {
  if (request.kind !== 'chat') return { vars: {} };
  const prompt = promptOf(request);
  const context: { [key: string]: Json } = { vars: {}, prompt: { raw: prompt, label: prompt } };
  for (const [name, value] of Object.entries(request.context ?? {})) if (value !== undefined) context[name] = value;
  if (request.tools) context['tools'] = JSON.parse(JSON.stringify(request.tools)) as Json;
  if (request.repeatIndex !== undefined) context['repeatIndex'] = request.repeatIndex;
  return context;
}

/** The options object of promptfoo's contract. */
export const optionsFor = (options: ProviderOptions, basePath: string): JsonObject => ({
  id: options.id,
  ...(options.label === undefined ? {} : { label: options.label }),
  config: { ...options.config, basePath },
});

/** What each kind of request wants back. */
export const wantedOf = (request: ModelRequest): 'output' | 'embedding' | 'classification' =>
  request.kind === 'embedding' ? 'embedding' : request.kind === 'classification' ? 'classification' : 'output';

/** What became of a program's run, as the outcome of a call. */
export function outcomeOf(id: string, outcome: CodeOutcome, want: ReturnType<typeof wantedOf>): Outcome {
  switch (outcome.kind) {
    case 'returned':
      return readResponse(id, outcome.value, want);
    case 'threw':
      return programFailure(id, outcome.message, outcome.stack);
    case 'broke':
      if (outcome.cause === 'aborted') {
        return { kind: 'failure', code: 'aborted', message: `${id}: stopped.`, retryable: false, billed: 'maybe' };
      }
      return programFailure(id, `${outcome.message}.`);
    default:
      return assertNever(outcome);
  }
}

interface Program {
  readonly lane: string;
  readonly model: string;
  call(request: ModelRequest, signal: AbortSignal): Promise<Outcome>;
  cleanup?(): Promise<void>;
}

/** A provider around a program; as many calls at once as there are cores, unless its lane says otherwise. */
export function createProgramProvider(options: ProviderOptions, program: Program): Provider {
  const key = laneKey(program.lane);
  const { cleanup } = program;
  return {
    id: options.id,
    ...(options.label === undefined ? {} : { label: options.label }),
    model: program.model,
    laneKey: key,
    nodes: [options.limits === undefined ? { key } : { key, limits: options.limits }],
    accounting: accountingProfiles.concurrency,
    ceiling: availableParallelism(),
    ...(options.delayMs === undefined ? {} : { delayMs: options.delayMs }),
    call: (request, { signal }) => program.call(request, signal),
    price: () => undefined,
    ...(cleanup === undefined ? {} : { cleanup }),
  };
}
