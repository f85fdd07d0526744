import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ParlaneError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import {
  contextOf,
  createProgramProvider,
  optionsFor,
  outcomeOf,
  promptOf,
  timeoutOf,
  wantedOf,
} from '../program/program-provider.ts';
import { RunnerPool } from '../program/runner-pool.ts';
import type { ProviderFactory } from '../provider-factory.ts';

const pattern = /^(?:file:\/\/)?((?:[A-Za-z]:)?[^:]+\.[cm]?[jt]s)(?::([\w.]+))?$/;

/** Source and build run alike: the driver has this file's own extension. */
const driver = join(import.meta.dirname, `module-driver.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`);

const methods: Readonly<Record<ModelRequest['kind'], string>> = {
  chat: 'callApi',
  embedding: 'callEmbeddingApi',
  moderation: 'callModerationApi',
  classification: 'callClassificationApi',
  similarity: 'callSimilarityApi',
};

/** A file that must be there before anything runs. */
export function existingFile(id: string, path: string, basePath: string): string {
  const absolute = resolve(basePath, path);
  if (existsSync(absolute)) return absolute;
  throw new ParlaneError(
    'provider/no-such-file',
    `${id}: there is no file ${absolute}.`,
    'Paths are relative to the config file.',
    { provider: id, path: absolute },
  );
}

/** `file://provider.ts`, `file://provider.js:name`, `./provider.mjs`: a class, object or function with `callApi`. */
export const moduleFactory: ProviderFactory = {
  matches: (id) => pattern.test(id) && !/^(?:exec|python|ruby|https?):/.test(id),
  create(options, context) {
    const [, file = '', name] = pattern.exec(options.id) ?? [];
    const path = existingFile(options.id, file, context.basePath);
    const { basePath, env } = context;
    const timeoutMs = timeoutOf(options.config);
    const pool = new RunnerPool({ env, cwd: basePath, timeoutMs });
    const given = optionsFor(options, basePath);
    return createProgramProvider(options, {
      lane: options.id,
      model: options.id,
      async call(request, signal) {
        const args: Json[] =
          request.kind === 'chat'
            ? [promptOf(request), contextOf(request), {}]
            : request.kind === 'similarity'
              ? [request.expected, request.input]
              : [promptOf(request)];
        const call = {
          code: { kind: 'file' as const, language: 'javascript' as const, path: driver },
          args: [path, name ?? null, methods[request.kind], given, args],
          timeoutMs,
        };
        return outcomeOf(options.id, await pool.run(call, signal), wantedOf(request));
      },
      cleanup: () => pool.close(),
    });
  },
};
