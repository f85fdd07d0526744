import type { Json, JsonObject } from '../domain/json.ts';
import type { ModelRequest } from '../domain/message.ts';

/** Settings of ours, and options of a test that may stand beside vendor parameters: never for the wire. */
const notForTheWire = new Set([
  ...[
    'apiKey',
    'apiKeyEnvar',
    'apiKeyRequired',
    'apiHost',
    'apiBaseUrl',
    'headers',
    'organization',
    'project',
    'timeoutMs',
  ],
  ...[
    'passthrough',
    'extra_body',
    'functionToolCallbacks',
    'showThinking',
    'omitDefaults',
    'lane',
    'mcp',
    'maxRetries',
  ],
  ...['cost', 'inputCost', 'outputCost', 'audioCost', 'prefix', 'suffix', 'transform', 'transformVars', 'postprocess'],
  ...['provider', 'rubricPrompt', 'factuality', 'storeOutputAs', 'runSerially', 'repeat', 'disableVarExpansion'],
  ...['disableConversationVar', 'disableDefaultAsserts', 'systemPrompt', 'label', 'id', 'config', 'beta', 'effort'],
]);

/** Parameters of one call that no rule of the adapter takes up: they reach the wire as they are. */
export function otherParams(request: ModelRequest, handled: ReadonlySet<string>): JsonObject {
  if (request.kind !== 'chat' || request.params === undefined) return {};
  const left: Record<string, Json> = {};
  for (const [key, value] of Object.entries(request.params)) {
    if (!handled.has(key) && !notForTheWire.has(key)) left[key] = value;
  }
  return left;
}
