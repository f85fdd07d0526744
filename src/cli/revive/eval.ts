/** Runs of `parlane eval`: their snapshot names the config files, which are read again. */
import { loadSuite } from '../../config/load-suite.ts';
import { ParlaneError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { realClock } from '../../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../../platform/code-runner.ts';
import { configFiles, shownPath } from '../../platform/config-files.ts';
import { createHttpClient } from '../../providers/http-client.ts';
import { openEval } from '../../run/open-eval.ts';
import type { CliContext } from '../cli-context.ts';
import type { Revived } from '../revivers.ts';

interface EvalSnapshot {
  readonly source?: { readonly configs?: readonly string[] };
}

export async function revive(snapshot: Json, context: CliContext): Promise<Revived> {
  const configs = (snapshot as EvalSnapshot).source?.configs ?? [];
  if (configs.length === 0) {
    const cure = 'Resume it with the same command and --resume.';
    throw new ParlaneError('run/no-config', 'This eval was started without a config file.', cure);
  }
  const { env, cwd } = context;
  const code = createCodeRunner({ env: scrubbedEnvironment(env), cwd });
  const http = createHttpClient({ clock: realClock });
  const shown = (path: string): string => shownPath(path, cwd);
  const { suite } = await loadSuite({ files: configFiles, code, env, cwd, configs, shown });
  const opened = await openEval(suite, { clock: realClock, files: configFiles, code, http, env });
  return {
    provider: opened.provider,
    lanes: opened.lanes,
    runners: opened.runners,
    cases: opened.plan.cases(),
    close: async () => {
      await Promise.all([http.close(), code.close()]);
    },
  };
}
