import type { CodeRunner } from '../../domain/code-runner.ts';
import { ParlaneError } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Usage } from '../../domain/reply.ts';
import type { ChatRequest } from '../openai/chat-body.ts';
import { asObject, at, countAt, textAt } from '../read-json.ts';
import { type Answer, type FormatProblem, problem, type ReplyDraft, usageOf, type WireFormat } from '../wire-format.ts';
import { renderRequest, type TemplateOptions } from './render-request.ts';
import { statusRule, transformed, userCode } from './user-expression.ts';

export interface HttpTargetOptions extends TemplateOptions {
  readonly code: CodeRunner | undefined;
  readonly basePath: string;
}

/** Statuses that ask for patience are never answers, unless `validateStatus` says so. */
const asksForPatience = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || status >= 500;

/** Any HTTP server, spoken to by templates. */
export function httpTarget(options: HttpTargetOptions): WireFormat {
  const { config } = options;
  const parser = textAt(config, 'transformResponse') ?? textAt(config, 'responseParser');
  return {
    anyBody: true,
    accepts: acceptanceOf(config),
    async build(request, { signal }) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `an http target cannot answer a request for ${request.kind}.`);
      const prompt = promptOf(request);
      const vars = { ...(request.context?.vars ?? {}), prompt };
      const asked = await transformedPrompt(options, prompt, vars, signal);
      if (typeof asked === 'object' && asked !== null && 'problem' in asked)
        return asked.problem as unknown as FormatProblem;
      return renderRequest(options, vars, asked);
    },
    async read(answer, _request, { signal }) {
      const json = typeof answer.body === 'string' ? null : answer.body;
      if (parser === undefined) return draftOf(json ?? answer.raw, answer);
      const { status } = answer;
      const context = { response: { data: answer.raw, status, headers: plainHeaders(answer), cached: false } };
      const outcome = await transformed(parser, json, answer.raw, context, {
        code: options.code,
        basePath: options.basePath,
        signal,
      });
      if (outcome.kind !== 'returned') return transformProblem(answer, outcome.message);
      return normalized(outcome.value, answer);
    },
  };
}

function acceptanceOf(config: JsonObject): (status: number) => boolean {
  const source = textAt(config, 'validateStatus');
  if (source === undefined) return (status) => !asksForPatience(status) && (status < 300 || status >= 400);
  const rule = statusRule(source);
  if (rule !== undefined) return rule;
  throw new ParlaneError(
    'provider/validate-status',
    `validateStatus is not understood: ${JSON.stringify(source)}.`,
    'Write comparisons of `status` with numbers, such as `status >= 200 && status < 300`.',
  );
}

/** Messages of a conversation reach a template as JSON text, as a prompt's author would write them. */
const promptOf = (request: ChatRequest): string => request.prompt ?? JSON.stringify(request.messages ?? []);

async function transformedPrompt(
  options: HttpTargetOptions,
  prompt: string,
  vars: JsonObject,
  signal: AbortSignal,
): Promise<Json | { readonly problem: FormatProblem }> {
  const source = textAt(options.config, 'transformRequest');
  if (source === undefined) return prompt;
  if (/\{\{/.test(source) && !source.includes('=>')) return options.render(source, vars);
  if (options.code === undefined)
    return { problem: problem('program', 'transformRequest needs something to run code with.') };
  const outcome = await options.code.run(
    { code: userCode(source, ['prompt', 'vars', 'context'], options.basePath), args: [prompt, vars, { vars }] },
    { signal },
  );
  if (outcome.kind !== 'returned')
    return { problem: problem('program', `the request transform failed: ${outcome.message}`) };
  return (outcome.value ?? null) as Json;
}

/** A transform that fails on an error, or on a body that is no JSON, says less than the answer itself. */
function transformProblem(answer: Answer, message: string): FormatProblem {
  if (answer.status >= 400) return problem('by-status', message);
  if (answer.raw.trim() === '') return problem('empty_response', 'the answer is empty.');
  if (typeof answer.body === 'string')
    return problem('bad_response', `the answer is not JSON: ${answer.raw.slice(0, 200)}`);
  return problem('program', `the response transform failed: ${message}`);
}

const plainHeaders = ({ headers }: Answer): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

/** A transform may give back the output, or a whole response with `output` or `error` in it. */
function normalized(value: unknown, answer: Answer): ReplyDraft | FormatProblem {
  const object = asObject(value);
  const whole = object !== undefined && ('output' in object || 'error' in object);
  if (!whole) return draftOf((value ?? null) as Json, answer);
  if (object['error']) return problem('program', String(object['error']));
  const metadata = asObject(object['metadata']);
  return {
    ...draftOf(object['output'] ?? null, answer, tokenUsage(object)),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

const tokenUsage = (response: JsonObject): Usage | undefined =>
  usageOf({
    inputTokens: countAt(response, 'tokenUsage', 'prompt'),
    outputTokens: countAt(response, 'tokenUsage', 'completion'),
  });

function draftOf(output: Json, answer: Answer, said?: Usage): ReplyDraft {
  const usage =
    said ??
    usageOf({
      inputTokens: countAt(answer.body, 'usage', 'prompt_tokens') ?? countAt(answer.body, 'usage', 'input_tokens'),
      outputTokens:
        countAt(answer.body, 'usage', 'completion_tokens') ?? countAt(answer.body, 'usage', 'output_tokens'),
    });
  return {
    kind: 'draft',
    text: typeof output === 'string' ? output : output === null ? '' : JSON.stringify(output),
    output,
    usage,
    finishReason: 'stop',
    servedModel: typeof at(answer.body, 'model') === 'string' ? textAt(answer.body, 'model') : undefined,
  };
}
