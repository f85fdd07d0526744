import { ParlaneError } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Render } from '../render-settings.ts';

export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Values as they may stand inside a JSON string. */
export const jsonSafe = (vars: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(vars).map(([name, value]): [string, Json] => [
      name,
      typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : value,
    ]),
  );

/** Only `{{ }}` is a template here: cookies and headers may hold `{%`. */
export const renderRaw = (template: string, vars: JsonObject, render: Render): string =>
  template.replace(/\{\{[\s\S]*?\}\}/g, (slot) => render(slot, vars));

/** A request as it would be typed: request line, headers, empty line, body. */
export function parseRawRequest(text: string): RawRequest {
  const lines = text.trim().replaceAll('\r\n', '\n').split('\n');
  const [, method, target] = /^([A-Z]+) (\S.*?) HTTP\/[\d.]+$/i.exec(lines[0]?.trim() ?? '') ?? [];
  if (method === undefined || target === undefined) {
    throw new ParlaneError(
      'provider/raw-request',
      'The raw request has no request line.',
      'Its first line must look like `POST /v1/chat HTTP/1.1`.',
    );
  }
  const end = lines.indexOf('', 1);
  const headerLines = lines.slice(1, end === -1 ? undefined : end);
  const headers = headerLines.map((line) => [
    line.slice(0, line.indexOf(':')).trim().toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return {
    method: method.toUpperCase(),
    target,
    headers: Object.fromEntries(headers.filter(([name]) => name !== '' && name !== 'content-length')),
    body:
      end === -1
        ? ''
        : lines
            .slice(end + 1)
            .join('\n')
            .trim(),
  };
}
