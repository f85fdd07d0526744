/** The public names of Parlane, one by one. */
export { ParlaneError } from './domain/errors.ts';
export type { Json, JsonObject } from './domain/json.ts';
export type { Call, LaneEvent, LaneLimits, LaneSnapshot, WaitCause } from './domain/lane.ts';
export type { ChatMessage, ModelRequest, ToolCall, ToolDefinition } from './domain/message.ts';
export type { Outcome, ProviderFailure, RateHints, Reply, Usage } from './domain/reply.ts';
export { createHttpClient, type HttpClient } from './providers/http-client.ts';
export { createPriceTable } from './providers/prices.ts';
export { getRetryAfter, parseRateLimitHints } from './providers/rate-limit-hints.ts';
export { resolveProvider } from './providers/resolve-provider.ts';
