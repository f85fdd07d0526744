import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ConversationResult } from '../domain/conversation-result.ts';
import schema from './conversation-result.schema.json' with { type: 'json' };

/** The JSON Schema of a conversation's result, for programs that read results. */
export const conversationResultSchema: object = schema;

/** Makes a function that says everything that is wrong with a result; an empty list when it fits the schema. */
export function resultValidator(): (result: unknown) => string[] {
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  return (result) => {
    if (validate(result)) return alignmentFaults(result as unknown as ConversationResult);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/** What a schema cannot say: calls and results align by position. */
function alignmentFaults(result: ConversationResult): string[] {
  return result.conversation_history.flatMap((entry, at) => {
    const results = entry.tool_results ?? entry.client_tool_results ?? [];
    return (entry.tool_calls?.length ?? 0) === results.length
      ? []
      : [`/conversation_history/${at} has ${entry.tool_calls?.length ?? 0} calls and ${results.length} results`];
  });
}
