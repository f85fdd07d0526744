import { ParlaneError } from '../../domain/errors.ts';
import { isObject, type JsonObject } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import type { CallOptions, Provider } from '../../domain/provider.ts';
import type { Outcome, Reply, Usage } from '../../domain/reply.ts';
import { createProgramProvider, promptOf } from '../program/program-provider.ts';
import { programFailure } from '../program/read-response.ts';
import type { ProviderContext, ProviderFactory, ProviderOptions } from '../provider-factory.ts';
import { createRender } from '../render-settings.ts';

/** The provider that the inputs go to: `config.provider`, else the one the test was meant for. */
function targetOf(options: ProviderOptions, context: ProviderContext, request: ModelRequest): Provider | undefined {
  const original = request.kind === 'chat' ? request.context?.['originalProvider'] : undefined;
  const named = options.config?.['provider'] ?? original;
  if (typeof named === 'string') return context.resolve?.({ id: named });
  return isObject(named) && typeof named['id'] === 'string'
    ? context.resolve?.(named as unknown as ProviderOptions)
    : undefined;
}

const addUp = (sum: Usage, more: Usage | undefined): Usage => ({
  inputTokens: (sum.inputTokens ?? 0) + (more?.inputTokens ?? 0),
  outputTokens: (sum.outputTokens ?? 0) + (more?.outputTokens ?? 0),
});

/** One reply out of several, or the first failure. */
async function playAll(
  target: Provider,
  inputs: readonly ModelRequest[],
  options: CallOptions,
): Promise<Outcome | Reply[]> {
  const replies: Reply[] = [];
  for (const [at, input] of inputs.entries()) {
    const key = options.idempotencyKey === undefined ? {} : { idempotencyKey: `${options.idempotencyKey}/${at}` };
    const outcome = await target.call(input, { ...options, ...key });
    if (outcome.kind === 'failure') return outcome;
    replies.push(outcome);
  }
  return replies;
}

function join(replies: readonly Reply[], separator: string): Reply | undefined {
  const last = replies.at(-1);
  if (last === undefined) return undefined;
  const text = replies.map((reply) => reply.text).join(separator);
  const costs = replies.map((reply) => reply.costUsdMicros);
  const { costUsdMicros: _, ...rest } = last;
  const known = costs.every((cost) => cost !== undefined);
  return {
    ...rest,
    text,
    output: text,
    usage: replies.reduce<Usage>((sum, reply) => addUp(sum, reply.usage), {}),
    ...(known ? { costUsdMicros: costs.reduce((sum, cost) => sum + cost, 0) } : {}),
    raw: replies.map((reply) => reply.raw).join('\n'),
  };
}

/** `sequence`: sends each of `config.inputs` to another provider and joins the answers. */
export const sequenceFactory: ProviderFactory = {
  matches: (id) => id === 'sequence',
  create(options, context) {
    const inputs = options.config?.['inputs'];
    if (!Array.isArray(inputs)) {
      throw new ParlaneError(
        'provider/sequence',
        'sequence: `config.inputs` must be a list.',
        'Name the inputs to send.',
      );
    }
    const separator = String(options.config?.['separator'] ?? '\n---\n');
    const render = context.render ?? createRender(context.env);
    const base = createProgramProvider(options, {
      lane: 'sequence',
      model: 'sequence',
      call: async () => programFailure(options.id, 'not reached.'),
    });
    return {
      ...base,
      async call(request, callOptions) {
        const target = targetOf(options, context, request);
        if (target === undefined) {
          return programFailure(options.id, 'no provider to send the inputs to; set `config.provider`.');
        }
        const vars: JsonObject = {
          ...(request.kind === 'chat' ? request.context?.vars : {}),
          prompt: promptOf(request),
        };
        const rendered = inputs.map(
          (input): ModelRequest => ({
            ...(request.kind === 'chat' ? request : { kind: 'chat' }),
            prompt: render(String(input), vars),
          }),
        );
        const replies = await playAll(target, rendered, callOptions);
        if (!Array.isArray(replies)) return replies;
        return join(replies, separator) ?? programFailure(options.id, '`config.inputs` is empty.');
      },
    };
  },
};
