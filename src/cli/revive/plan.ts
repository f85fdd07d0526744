/** Runs of plans built through the library: their snapshot names the providers, everything else is in the cases. */
import { ParlaneError } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { grade } from '../../grading/grade.ts';
import { SchemaValidator } from '../../grading/json-schema.ts';
import { realClock } from '../../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../../platform/code-runner.ts';
import { realFiles } from '../../platform/files.ts';
import { createEvalTemplates } from '../../prompts/eval-template.ts';
import { createHttpClient } from '../../providers/http-client.ts';
import type { ProviderOptions } from '../../providers/provider-factory.ts';
import { resolveProvider } from '../../providers/resolve-provider.ts';
import { Lanes } from '../../run/lanes.ts';
import { promptRunner } from '../../run/prompt-case.ts';
import type { CliContext } from '../cli-context.ts';
import type { Revived } from '../revivers.ts';

/** `{kind: 'plan', providers: {<column's provider>: {id, config?}}}`. */
interface PlanSnapshot {
  readonly kind: 'plan';
  readonly providers: Readonly<Record<string, ProviderOptions>>;
}

const unknownProvider = (name: string): ParlaneError =>
  new ParlaneError(
    'run/unknown-provider',
    `The run's snapshot does not name the provider "${name}".`,
    'Resume it from the program that started it.',
  );

const noConversations = (): never => {
  throw new ParlaneError(
    'run/conversations-elsewhere',
    'This plan holds conversations that a program built.',
    'Resume it from that program with resumeRun().',
  );
};

export async function revive(snapshot: Json, context: CliContext): Promise<Revived> {
  const { providers } = snapshot as unknown as PlanSnapshot;
  const http = createHttpClient({ clock: realClock });
  const code = createCodeRunner({ env: scrubbedEnvironment(context.env), cwd: context.cwd });
  const templates = createEvalTemplates({ env: {} });
  const surroundings = { clock: realClock, env: context.env, basePath: context.cwd, http, code };
  const post = (): Promise<never> => Promise.reject(new Error('webhook checks are not part of a library plan'));
  const ports = {
    render: (text: string, vars: JsonObject) => templates.render(text, vars),
    files: realFiles,
    code,
    schemas: new SchemaValidator(),
    post,
  };
  return {
    provider: (name) => {
      const options = providers[name];
      if (options === undefined) throw unknownProvider(name);
      return resolveProvider(options, surroundings);
    },
    lanes: ({ onEvent }) => new Lanes({ clock: realClock, onEvent }),
    runners: {
      prompt: promptRunner({
        render: (prompt, vars, literal) => templates.renderPrompt(prompt, vars, literal),
        grade: ({ case: one, prompt, vars, reply, latencyMs, effects }) =>
          grade(one.checks, { output: reply.output, prompt, vars, reply: { latencyMs } }, effects, {
            baseDir: context.cwd,
            ports,
            ...(one.threshold === undefined ? {} : { threshold: one.threshold }),
          }),
      }),
      conversation: noConversations,
    },
    close: async () => {
      await Promise.all([http.close(), code.close()]);
    },
  };
}
