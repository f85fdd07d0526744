/**
 * Runs user code (assertions, transforms, hooks, prompt functions, generated tests) in killable processes: one long-lived
 * process per language and run, started when first needed, with an environment that holds only what was allowed.
 * This is no sandbox: the code is trusted. It is kept apart so that its loops, exits and crashes are one call's failure,
 * and so that keys do not lie in its environment.
 */
import type { CodeRunner } from '../domain/code-runner.ts';
import { CodeProcess } from './code-process.ts';
import type { CodeLanguage } from './code-wire.ts';

export interface CodeRunnerOptions {
  /** The whole environment of the processes; see `scrubbedEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder the code starts in: the config's. */
  readonly cwd: string;
  /** For calls that set no limit of their own. */
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  readonly onPrint?: (text: string) => void;
}

export interface ClosableCodeRunner extends CodeRunner {
  /** Ends the processes at once; calls still waiting end as `aborted`. */
  close(): Promise<void>;
}

const harmless =
  /^(?:PATH|HOME|USER|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|TMP|TEMP|SystemRoot|windir|ComSpec|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|VIRTUAL_ENV|CONDA_PREFIX|PYENV_\w+|PYTHON(?:PATH|HOME|IOENCODING|UTF8)|GEM_(?:HOME|PATH)|PROMPTFOO_PYTHON|PROMPTFOO_RUBY|NODE_PATH)$/i;

/** The part of an environment that user code gets: what programs need to start, and what the config's `env` gives. */
export function scrubbedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && harmless.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...given };
}

/** Opens the runner of one run. Nothing is started until the first call. */
export function createCodeRunner(options: CodeRunnerOptions): ClosableCodeRunner {
  const processes = new Map<CodeLanguage, CodeProcess>();
  const python = options.env['PROMPTFOO_PYTHON'] ?? (process.platform === 'win32' ? 'python' : 'python3');
  const ruby = options.env['PROMPTFOO_RUBY'] ?? 'ruby';
  const wire = {
    env: options.env,
    cwd: options.cwd,
    memoryMb: options.memoryMb ?? 512,
    interpreters: { python, ruby },
    ...(options.onPrint === undefined ? {} : { onPrint: options.onPrint }),
  };
  const processFor = (language: CodeLanguage): CodeProcess => {
    const known = processes.get(language);
    if (known !== undefined) return known;
    const fresh = new CodeProcess(language, wire, options.timeoutMs ?? 30_000);
    processes.set(language, fresh);
    return fresh;
  };
  return {
    run: (call, { signal }) => processFor(call.code.language).run(call, signal),
    close: async () => {
      for (const running of processes.values()) running.close();
    },
  };
}
