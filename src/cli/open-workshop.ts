/** What commands that load configs and ask models need, opened once and closed once. */
import { type LoadedSuite, loadSuite } from '../config/load-suite.ts';
import type { SuiteOverrides } from '../config/overrides.ts';
import type { Clock } from '../platform/clock.ts';
import { type ClosableCodeRunner, createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { configFiles, shownPath } from '../platform/config-files.ts';
import { createHttpClient, type HttpClient } from '../providers/http-client.ts';
import { type CliContext, clockOf } from './cli-context.ts';

export interface Workshop {
  readonly clock: Clock;
  readonly files: typeof configFiles;
  readonly code: ClosableCodeRunner;
  readonly http: HttpClient;
  readonly env: CliContext['env'];
  load(configs: readonly string[], overrides?: SuiteOverrides): Promise<LoadedSuite>;
  close(): Promise<void>;
}

export function openWorkshop(context: CliContext): Workshop {
  const code = createCodeRunner({ env: scrubbedEnvironment(context.env), cwd: context.cwd });
  const clock = clockOf(context);
  const http = createHttpClient({ clock });
  const { env, cwd } = context;
  const shown = (path: string): string => shownPath(path, cwd);
  return {
    clock,
    files: configFiles,
    code,
    http,
    env,
    load: (configs, overrides = {}) => loadSuite({ files: configFiles, code, env, cwd, configs, shown, overrides }),
    close: async () => {
      await Promise.all([http.close(), code.close()]);
    },
  };
}
