import { stripVTControlCharacters } from 'node:util';
import { ParlaneError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/reply.ts';
import { contextOf, createProgramProvider, optionsFor, promptOf, timeoutOf } from '../program/program-provider.ts';
import { programFailure, readResponse } from '../program/read-response.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { type CommandOutcome, runCommand } from './run-command.ts';

/** Words of a command line; quotes keep blanks together. */
function commandWords(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map((match) => match[1] ?? match[2] ?? match[0]);
}

const clean = (text: string): string => stripVTControlCharacters(text).trim();

function read(id: string, command: string, outcome: CommandOutcome, timeoutMs: number): Outcome {
  switch (outcome.kind) {
    case 'missing':
      return programFailure(id, `"${command}" is not installed, not on the PATH, or its folder does not exist.`);
    case 'timeout':
      return programFailure(id, `the command did not end within ${timeoutMs} ms.`);
    case 'too-much':
      return programFailure(id, 'the command printed more than 16 MB.');
    case 'aborted':
      return { kind: 'failure', code: 'aborted', message: `${id}: stopped.`, retryable: false, billed: 'maybe' };
    case 'ended': {
      const [out, err] = [clean(outcome.out), clean(outcome.err)];
      const last = err.split('\n').slice(-3).join(' ').slice(0, 500);
      if (outcome.code !== 0)
        return programFailure(id, `the command ended with code ${outcome.code}${last && `: ${last}`}.`, out);
      if (out === '' && err !== '') return programFailure(id, `the command printed nothing but an error: ${last}`);
      return readResponse(id, { output: out }, 'output');
    }
  }
}

/** `exec:<command>`: gets the prompt, the options and the context as its last three arguments; what it prints is the answer. */
export const execFactory: ProviderFactory = {
  matches: (id) => id.startsWith('exec:'),
  create(options, context) {
    const [command, ...words] = commandWords(options.id.slice('exec:'.length));
    if (command === undefined) {
      throw new ParlaneError('provider/exec', `${options.id}: no command.`, 'Write `exec:node script.js`.');
    }
    const { env, basePath: cwd } = context;
    const timeoutMs = timeoutOf(options.config);
    const given = JSON.stringify(optionsFor(options, cwd));
    return createProgramProvider(options, {
      lane: options.id,
      model: options.id,
      async call(request, signal) {
        const args = [...words, promptOf(request), given, JSON.stringify(contextOf(request))];
        return read(options.id, command, await runCommand(command, args, { env, cwd, timeoutMs, signal }), timeoutMs);
      },
    });
  },
};
