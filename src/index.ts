/** The public names of Parlane, one by one. */

export { type Comparison, compareRuns } from './compare/compare-runs.ts';
export { comparisonJson, comparisonMarkdown, comparisonText, comparisonVerdict } from './compare/render-comparison.ts';
export { type RunSide, runSide } from './compare/run-side.ts';
export { ParlaneError } from './domain/errors.ts';
export type { Forecast, LaneForecast, Range } from './domain/forecast.ts';
export type { Json, JsonObject } from './domain/json.ts';
export type { Call, LaneEvent, LaneLimits, LaneSnapshot, WaitCause } from './domain/lane.ts';
export type { ChatMessage, ModelRequest, ToolCall, ToolDefinition } from './domain/message.ts';
export type { Outcome, ProviderFailure, RateHints, Reply, Usage } from './domain/reply.ts';
export type { Row, RowStatus } from './domain/row.ts';
export type { RunEvent, RunTotals, StopReason } from './domain/run-event.ts';
export { createHttpClient, type HttpClient } from './providers/http-client.ts';
export { createPriceTable } from './providers/prices.ts';
export { getRetryAfter, parseRateLimitHints } from './providers/rate-limit-hints.ts';
export { resolveProvider } from './providers/resolve-provider.ts';
export { writeCsv } from './reporters/csv/csv-rows.ts';
export { writeHtmlReport } from './reporters/html/html-report.ts';
export { jsonEvents } from './reporters/json/json-events.ts';
export { writeJsonRows } from './reporters/json/json-rows.ts';
export { writeJunit } from './reporters/junit/junit-xml.ts';
export type { RunObserver, TextSink } from './reporters/observer.ts';
export type { RunInfo, RunReader } from './reporters/run-reader.ts';
