/** A batch's results in the forms other programs read. */
import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Json } from '../domain/json.ts';

const columns: readonly (readonly [string, (result: ConversationResult) => Json | undefined])[] = [
  ['scenario', (result) => result.scenario],
  ['session_id', (result) => result.session_id],
  ['status', (result) => result.status],
  ['termination_reason', (result) => result.termination_reason],
  ['total_turns', (result) => result.total_turns],
  ['duration_seconds', (result) => result.duration_seconds],
  ['working_seconds', (result) => result.working_seconds],
  ['tool_call_count', (result) => result.tool_call_count],
  ['evaluation_status', (result) => result.evaluation_status],
  ['score', (result) => result.score],
  ['comment', (result) => result.comment],
  ['cost_usd', (result) => result.metrics.cost_usd],
  ['handoff_path', (result) => result.metrics.handoff_path.join(' > ')],
  ['error_type', (result) => result.error_type],
  ['error', (result) => result.error],
  ['start_time', (result) => result.start_time],
  ['end_time', (result) => result.end_time],
  ['prompt_spec_name', (result) => result.prompt_spec_name],
  ['prompt_version', (result) => result.prompt_version],
];

/** One line per conversation. A cell that a spreadsheet would run as a formula gets an apostrophe. */
export function batchCsv(results: readonly ConversationResult[]): string {
  const lines = [
    columns.map(([name]) => name),
    ...results.map((result) => columns.map(([, read]) => cell(read(result)))),
  ];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function cell(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const batchNdjson = (results: readonly ConversationResult[]): string =>
  results.map((result) => `${JSON.stringify(result)}\n`).join('');
