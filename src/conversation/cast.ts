import type { Json, JsonObject } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import { notAgents, type Specification } from '../prompts/specification.ts';
import { renderTemplate, TemplateError } from '../prompts/template.ts';

/** The words of every part, rendered once before anything is sent, so that a missing variable costs nothing. */

export type ClientMove =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'model' }
  | { readonly kind: 'hang-up' };

/** Everything templates may use: the scenario's variables, and what the engine provides. */
export function templateValues(
  scenario: Scenario,
  variables: JsonObject,
  provided: {
    readonly sessionId: string;
    readonly date: string;
    readonly useTools: boolean;
    readonly endMarker: string | undefined;
  },
): JsonObject {
  return {
    ...variables,
    session_id: provided.sessionId,
    current_date: provided.date,
    scenario_name: scenario.name,
    use_tools: provided.useTools,
    end_marker: provided.endMarker ?? '',
  };
}

/** The system prompts of the agents and the client. Throws a TemplateError that names the scenario and the part. */
export function renderPrompts(
  scenario: Scenario,
  specification: Specification,
  values: JsonObject,
): Record<string, string> {
  const keys = Object.keys(specification.agents).filter((key) => key === 'client' || !notAgents.has(key));
  return Object.fromEntries(
    keys.map((key) => [
      key,
      render(`the prompt of "${key}"`, specification.agents[key]?.prompt ?? '', scenario, values),
    ]),
  );
}

/** The evaluator's prompt, when the specification has one. */
export function renderEvaluator(
  scenario: Scenario,
  specification: Specification,
  values: JsonObject,
): string | undefined {
  const evaluator = specification.agents['evaluator'];
  return evaluator === undefined ? undefined : render('the prompt of "evaluator"', evaluator.prompt, scenario, values);
}

/** What the client does, turn by turn. After a script's last line the client hangs up; without a script the model plays on. */
export function clientMoves(scenario: Scenario, values: JsonObject): (turn: number) => ClientMove {
  const { script } = scenario;
  if (script === undefined) return () => ({ kind: 'model' });
  const moves = script.flatMap((line): ClientMove[] => {
    if (typeof line === 'string') return [{ kind: 'say', text: line }];
    if ('say' in line) return [{ kind: 'say', text: render('the script', line.say, scenario, values) }];
    return Array.from({ length: line.model }, () => ({ kind: 'model' }));
  });
  return (turn) => moves[turn - 1] ?? { kind: 'hang-up' };
}

function render(what: string, template: string, scenario: Scenario, values: JsonObject): string {
  try {
    return renderTemplate(template, values);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TemplateError(`Scenario "${scenario.name}", ${what}: ${error.message}.`, error.missing);
  }
}

/** The client's fixed first words, when the scenario gives them. */
export function clientGreeting(values: JsonObject): string | undefined {
  const greeting: Json | undefined = values['client_greeting'] ?? values['CLIENT_GREETING'];
  return typeof greeting === 'string' && greeting.trim() !== '' ? greeting : undefined;
}
