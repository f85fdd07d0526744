import type { Effects } from '../domain/effects.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Ending } from './ending.ts';
import { askForSession, askForVariables, mergeVariables, type WebhookAnswer } from './enrichment.ts';
import type { ConversationPorts, ConversationSetup } from './setup.ts';

/** A session before its first word: its id, its variables, and what went wrong on the way. */
export interface OpenedSession {
  readonly id: string;
  readonly variables: JsonObject;
  readonly warnings: readonly string[];
  /** Set when the policy says that a failed webhook ends it. */
  readonly ending?: Ending;
}

/** Session id: from the enrichment webhook, else from the session webhook, else generated. */
export async function openSession(
  setup: ConversationSetup,
  effects: Effects,
  ports: ConversationPorts,
): Promise<OpenedSession> {
  const { scenario, enrichment = {} } = setup;
  const warnings: string[] = [];
  const clientId = clientOf(scenario.variables);
  let variables = scenario.variables;
  let id: string | undefined;
  let ending: Ending | undefined;
  const take = (name: string, answer: WebhookAnswer): void => {
    if ('fault' in answer) {
      const message = `The ${name} webhook failed: ${answer.fault}.`;
      if (enrichment.policy === 'continue') warnings.push(message);
      else ending ??= webhookEnding(message, enrichment.policy ?? 'fail');
      return;
    }
    variables = mergeVariables(variables, answer.variables);
    id = answer.sessionId ?? id;
  };
  if (clientId !== undefined && enrichment.url !== undefined) {
    take('enrichment', await askForVariables(clientId, scenario.name, enrichment, enrichment.url, effects, ports));
  } else if (clientId !== undefined) {
    warnings.push('The scenario has a client_id, but no enrichment webhook is configured: nothing was called.');
  }
  if (id === undefined && ending === undefined && enrichment.session_url !== undefined) {
    take('session', await askForSession(clientId, scenario.name, enrichment, enrichment.session_url, effects, ports));
  }
  id ??= await effects.uuid('start/session');
  return { id, variables, warnings, ...(ending === undefined ? {} : { ending }) };
}

function clientOf(variables: JsonObject): string | undefined {
  const id = variables['client_id'];
  return id === undefined || id === null || id === '' ? undefined : String(id);
}

const webhookEnding = (error: string, policy: 'fail' | 'skip'): Ending => ({
  reason: 'error',
  error,
  errorType: 'WebhookError',
  errorCode: policy === 'skip' ? 'webhook_skipped' : 'webhook_failed',
});
