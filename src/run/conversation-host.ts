/** Everything conversations need of the world, opened once and closed once: network, user code, grading, providers. */
import { liveSessions } from '../conversation/enrichment.ts';
import type { ConversationPorts } from '../conversation/setup.ts';
import type { Millis } from '../domain/ids.ts';
import type { Provider } from '../domain/provider.ts';
import type { GradeOptions } from '../grading/grade.ts';
import { SchemaValidator } from '../grading/json-schema.ts';
import type { Clock } from '../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { realFiles } from '../platform/files.ts';
import { renderTemplate } from '../prompts/template.ts';
import { createHttpClient } from '../providers/http-client.ts';
import { programFactories } from '../providers/program-factories.ts';
import type { ProviderContext } from '../providers/provider-factory.ts';
import { resolveProvider } from '../providers/resolve-provider.ts';
import { toolHttp } from './tool-http.ts';

export interface HostOptions {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative files of modules and checks start here. */
  readonly folder: string;
}

export interface ConversationHost {
  readonly ports: ConversationPorts;
  readonly grading: GradeOptions;
  readonly provider: (name: string) => Provider;
  close(): Promise<void>;
}

/** Waits on the clock; rejects when the signal aborts. */
export function waitOn(clock: Clock): (ms: Millis, signal: AbortSignal) => Promise<void> {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel();
        reject(new Error('cancelled while waiting'));
      };
      const cancel = clock.at(clock.now() + ms, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
}

/** A name that is a JSON definition (`{"id": ..., "config": ...}`) is taken apart; anything else is an id. */
function definitionOf(name: string): string | Parameters<typeof resolveProvider>[0] {
  if (!name.startsWith('{')) return name;
  return JSON.parse(name) as Parameters<typeof resolveProvider>[0];
}

export function openConversationHost({ clock, env, folder }: HostOptions): ConversationHost {
  const client = createHttpClient({ clock });
  const code = createCodeRunner({ env: scrubbedEnvironment(env), cwd: folder });
  const http = toolHttp(client);
  const context: ProviderContext = { clock, env, basePath: folder, http: client, code };
  const post: GradeOptions['ports']['post'] = async (url, body, { signal, timeoutMs }) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await http.post({
      url,
      headers,
      body: JSON.stringify(body),
      timeoutMs,
      maxBytes: 16_000_000,
      signal,
    });
    if (answer.kind === 'answer') return answer;
    throw new Error(answer.message);
  };
  return {
    ports: { http, code, wait: waitOn(clock), liveSessions: liveSessions() },
    grading: {
      baseDir: folder,
      ports: { render: renderTemplate, files: realFiles, code, schemas: new SchemaValidator(), post },
    },
    provider: (name) => resolveProvider(definitionOf(name), context, programFactories),
    close: async () => {
      await Promise.all([client.close(), code.close()]);
    },
  };
}
