/** Prompts that could not be rendered for any test, told before anything is sent. */
import { isOn } from '../config/read-config.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Suite } from '../domain/suite.ts';
import { type EvalTemplateFault, evalTemplateFault } from '../prompts/eval-template-fault.ts';

export interface PromptFault extends EvalTemplateFault {
  /** The prompt it is about. */
  readonly raw: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** How the environment wants templates to be read. */
export const templateSwitches = (env: Environment) => ({
  jsonAsText: isOn(env['PROMPTFOO_DISABLE_JSON_AUTOESCAPE']),
  off: isOn(env['PROMPTFOO_DISABLE_TEMPLATING']),
});

/** Every prompt that is no usable template. Prompts made by code are not looked into. */
export function promptFaults(suite: Suite, env: Environment): PromptFault[] {
  const rules = { filters: Object.keys(suite.nunjucksFilters), ...templateSwitches(env) };
  return suite.prompts.flatMap(({ raw, code }) => {
    const fault = code === undefined ? evalTemplateFault(raw, rules) : undefined;
    return fault === undefined ? [] : [{ ...fault, raw }];
  });
}

/** Refuses when there are faults. Whoever knows the files tells each at its place. */
export function refusePrompts(faults: readonly PromptFault[]): void {
  if (faults.length === 0) return;
  const list = faults.map(({ raw, message }) => `${JSON.stringify(raw.slice(0, 60))}: ${message}`).join('; ');
  const cure = 'Nothing was run, nothing was spent.';
  throw new ParlaneError('prompt/unusable', `Some prompts could not be rendered: ${list}.`, cure, { faults });
}
