import type { Json } from '../domain/json.ts';
import type { ToolDefinition } from '../domain/message.ts';
import { parseArguments } from '../tools/parse-arguments.ts';

/** Hanging up, on both sides, as a tool that only the engine answers. */
export const endCallName = 'end_call';

export const endCallTool: ToolDefinition = {
  type: 'function',
  function: {
    name: endCallName,
    description: 'Ends the call.',
    parameters: { type: 'object', properties: { reason: { type: 'string', description: 'Why the call ends.' } } },
  },
};

export type EndCall = { readonly reason: string } | { readonly fault: string };

export function readEndCall(argumentText: string): EndCall {
  const parsed = parseArguments(argumentText);
  if ('fault' in parsed) return parsed;
  const { reason } = parsed.args;
  return {
    reason: typeof reason === 'string' && reason.trim() !== '' ? reason.toWellFormed() : 'conversation completed',
  };
}

/** The contract's result of `end_call`. */
export const endCallResult = (reason: string): Json => ({ status: 'call_ended', reason });
