import { type Check, demand } from '../check.ts';
import { assertionContext } from '../code-context.ts';
import { scriptVerdict } from '../code-verdict.ts';

const scriptIn =
  (language: 'python' | 'ruby'): Check =>
  async (input) => {
    const { value, scripted, output, subject, assertion, ports, effects } = input;
    if (scripted !== undefined) return scriptVerdict({ kind: 'returned', value: scripted.value }, input);
    demand(typeof value === 'string', `"${language}" needs code as its value`);
    const body = value.includes('\n') ? value : `return ${value}`;
    const outcome = await ports.code.run(
      {
        code: { kind: 'inline', language, body, parameters: ['output', 'context'] },
        args: [output, assertionContext(subject, assertion)],
      },
      { signal: effects.signal },
    );
    return scriptVerdict(outcome, input);
  };

/** `python`: an expression, a function body, or a file decides. */
export const python = scriptIn('python');
/** `ruby`: the same in Ruby. */
export const ruby = scriptIn('ruby');
