/** Which config a command works on: as its argument or after `-c`, whichever a person is used to. */
import { ParlaneError } from '../domain/errors.ts';

export const configOption = ['-c, --config <file>', 'the same as the argument'] as const;

export function chosenConfig(argument: string | undefined, flag: string | undefined): string | undefined {
  if (argument !== undefined && flag !== undefined && argument !== flag)
    throw new ParlaneError(
      'cli/conflict',
      `Two configs are named: "${argument}" and -c "${flag}".`,
      'Name one. Several files are one suite for eval and check: -c a.yaml b.yaml.',
    );
  return argument ?? flag;
}
