import type { Row } from '../../domain/row.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { RunObserver, TextSink } from '../observer.ts';

/** The version of the lines; it grows when a field changes its meaning, not when one is added. */
const jsonEventsVersion = 1;

export interface JsonEventsOptions {
  readonly sink: TextSink;
  /** Every single call too, not only cases, lanes and the run. */
  readonly calls?: boolean;
  /** Leaves `output`, `detail` and check texts out of the rows: names, verdicts and numbers only. */
  readonly brief?: boolean;
  /** Applied to each row first. */
  readonly redact?: (row: Row) => Row;
}

function briefRow(row: Row): object {
  const { output: _output, detail: _detail, verdict, ...rest } = row;
  return { ...rest, ...(verdict === undefined ? {} : { pass: verdict.pass, reason: verdict.reason }) };
}

function lineOf(event: RunEvent, options: JsonEventsOptions): object {
  if (event.type === 'run-start') return { version: jsonEventsVersion, ...event };
  if (event.type === 'case-start') {
    const { column: _column, ...rest } = event;
    return rest;
  }
  if (event.type !== 'case-end') return event;
  const row = options.redact?.(event.row) ?? event.row;
  return { ...event, row: options.brief === true ? briefRow(row) : row };
}

/** The run as JSON, one event a line, for programs. */
export function jsonEvents(options: JsonEventsOptions): RunObserver {
  return {
    observe(event) {
      if (options.calls !== true && event.type.startsWith('call-')) return;
      options.sink.write(`${JSON.stringify(lineOf(event, options))}\n`);
    },
    async finish() {},
  };
}
