/** The public names of Parlane, one by one. */
export { ParlaneError } from './domain/errors.ts';
export type { Json, JsonObject } from './domain/json.ts';
export type { Call, LaneEvent, LaneLimits, LaneSnapshot, WaitCause } from './domain/lane.ts';
export type { ChatMessage, ModelRequest, ToolCall, ToolDefinition } from './domain/message.ts';
export type { Outcome, ProviderFailure, RateHints, Reply, Usage } from './domain/reply.ts';
