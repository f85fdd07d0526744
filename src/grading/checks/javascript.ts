import { type Check, demand } from '../check.ts';
import { assertionContext } from '../code-context.ts';
import { javascriptVerdict } from '../code-verdict.ts';
import { javascriptBody } from '../user-code.ts';

/** `javascript`: an expression, a function body, or a file decides. */
export const javascript: Check = async (input) => {
  const { value, scripted, output, subject, assertion, ports, effects } = input;
  if (scripted !== undefined) return javascriptVerdict({ kind: 'returned', value: scripted.value }, input);
  demand(typeof value === 'string', '"javascript" needs code as its value');
  const outcome = await ports.code.run(
    {
      code: { kind: 'inline', language: 'javascript', body: javascriptBody(value), parameters: ['output', 'context'] },
      args: [output, assertionContext(subject, assertion)],
    },
    { signal: effects.signal },
  );
  return javascriptVerdict(outcome, input);
};
