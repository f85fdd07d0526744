import type { Json } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import { existingFile } from '../module/module-factory.ts';
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
import type { ProviderContext, ProviderFactory, ProviderOptions } from '../provider-factory.ts';

interface ScriptLanguage {
  readonly language: 'python' | 'ruby';
  /** Where the interpreter may be named: the config, then this variable. */
  readonly setting: string;
  readonly variable: string;
  readonly pattern: RegExp;
}

const functions: Readonly<Record<ModelRequest['kind'], string>> = {
  chat: 'call_api',
  embedding: 'call_embedding_api',
  moderation: 'call_moderation_api',
  classification: 'call_classification_api',
  similarity: 'call_similarity_api',
};

function environment(script: ScriptLanguage, options: ProviderOptions, context: ProviderContext) {
  const named = options.config?.[script.setting];
  return typeof named === 'string' ? { ...context.env, [script.variable]: named } : context.env;
}

const scriptFactory = (script: ScriptLanguage): ProviderFactory => ({
  matches: (id) => script.pattern.test(id),
  create(options, context) {
    const [, file = '', name] = script.pattern.exec(options.id) ?? [];
    const path = existingFile(options.id, file, context.basePath);
    const timeoutMs = timeoutOf(options.config);
    const pool = new RunnerPool({ env: environment(script, options, context), cwd: context.basePath, timeoutMs });
    const given = optionsFor(options, context.basePath);
    return createProgramProvider(options, {
      lane: options.id,
      model: options.id,
      async call(request, signal) {
        const functionName = name ?? functions[request.kind];
        const args: Json[] = [promptOf(request), given, ...(request.kind === 'chat' ? [contextOf(request)] : [])];
        const code = { kind: 'file' as const, language: script.language, path, functionName };
        return outcomeOf(options.id, await pool.run({ code, args, timeoutMs }, signal), wantedOf(request));
      },
      cleanup: () => pool.close(),
    });
  },
});

/** `python:provider.py`, `file://provider.py:function`: `call_api(prompt, options, context)`. */
export const pythonFactory = scriptFactory({
  language: 'python',
  setting: 'pythonExecutable',
  variable: 'PROMPTFOO_PYTHON',
  pattern: /^(?:python:(?:file:\/\/)?|file:\/\/)((?:[A-Za-z]:)?[^:]+\.py)(?::([\w.]+))?$/,
});

/** `ruby:provider.rb`, `file://provider.rb`: the same contract. */
export const rubyFactory = scriptFactory({
  language: 'ruby',
  setting: 'rubyExecutable',
  variable: 'PROMPTFOO_RUBY',
  pattern: /^(?:ruby:(?:file:\/\/)?|file:\/\/)((?:[A-Za-z]:)?[^:]+\.rb)(?::([\w.]+))?$/,
});
