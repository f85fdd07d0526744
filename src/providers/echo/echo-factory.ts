import type { Reply } from '../../domain/reply.ts';
import { createProgramProvider, promptOf } from '../program/program-provider.ts';
import type { ProviderFactory } from '../provider-factory.ts';

/** `echo`: gives back the prompt, for nothing. */
export const echoFactory: ProviderFactory = {
  matches: (id) => id === 'echo' || id.startsWith('echo:'),
  create(options) {
    const provider = createProgramProvider(options, {
      lane: 'echo',
      model: 'echo',
      async call(request): Promise<Reply> {
        const text = promptOf(request);
        return {
          kind: 'reply',
          text,
          output: text,
          toolCalls: [],
          usage: { inputTokens: 0, outputTokens: 0 },
          costUsdMicros: 0,
          finishReason: 'stop',
          status: 200,
          raw: text,
          flags: [],
          cached: false,
        };
      },
    });
    return { ...provider, ceiling: 64, price: () => 0 };
  },
};
