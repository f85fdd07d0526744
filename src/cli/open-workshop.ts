/** What commands that load configs and ask models need, opened once and closed once. */
import { loadSuite } from '../config/load-suite.ts';
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import { realClock } from '../platform/clock.ts';
import { type ClosableCodeRunner, createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { configFiles, shownPath } from '../platform/config-files.ts';
import { createHttpClient, type HttpClient } from '../providers/http-client.ts';
import type { CliContext } from './cli-context.ts';

export interface Workshop {
  readonly clock: typeof realClock;
  readonly files: typeof configFiles;
  readonly code: ClosableCodeRunner;
  readonly http: HttpClient;
  readonly env: CliContext['env'];
  load(configs: readonly string[]): Promise<{ suite: Suite; warnings: readonly Problem[]; configs: readonly string[] }>;
  close(): Promise<void>;
}

export function openWorkshop(context: CliContext): Workshop {
  const code = createCodeRunner({ env: scrubbedEnvironment(context.env), cwd: context.cwd });
  const http = createHttpClient({ clock: realClock });
  const { env, cwd } = context;
  const shown = (path: string): string => shownPath(path, cwd);
  return {
    clock: realClock,
    files: configFiles,
    code,
    http,
    env,
    load: (configs) => loadSuite({ files: configFiles, code, env, cwd, configs, shown }),
    close: async () => {
      await Promise.all([http.close(), code.close()]);
    },
  };
}
