import { isObject, type JsonObject } from '../../domain/json.ts';
import { type Check, explained } from '../check.ts';
import { matchesGlob } from '../glob.ts';
import type { Span } from '../subject.ts';
import { demandTrace } from '../trace/demand-trace.ts';

const saysError = (attributes: JsonObject): boolean =>
  ['error', 'exception', 'failed', 'failure'].some((key) => {
    const value = attributes[key];
    return value === true || value === 'true' || (typeof value === 'object' && value !== null);
  }) ||
  Number(attributes['http.status_code'] ?? 0) >= 400 ||
  attributes['otel.status_code'] === 'ERROR' ||
  attributes['status.code'] === 'ERROR';

/** Whether a span tells of an error, in any of the ways spans do. */
function isErrorSpan({ statusCode = 0, attributes = {}, statusMessage = '' }: Span): boolean {
  if (statusCode === 2 || statusCode >= 400) return true;
  return saysError(attributes) || /error|failed|failure|exception|timeout|abort/i.test(statusMessage);
}

/** `trace-error-spans`: not more errors than allowed, as a count or as a share; none unless the value says more. */
export const traceErrorSpans: Check = (input) => {
  const { spans } = demandTrace(input);
  const { value, inverse } = input;
  const limits: Readonly<Record<string, unknown>> = isObject(value) ? value : { max_count: value };
  const maxPercentage = limits['max_percentage'];
  const hasShare = typeof maxPercentage === 'number';
  const maxCount = typeof limits['max_count'] === 'number' ? limits['max_count'] : hasShare ? undefined : 0;
  const pattern = isObject(value) && typeof value['pattern'] === 'string' ? value['pattern'] : '*';
  const looked = spans.filter((span) => matchesGlob(span.name, pattern));
  const errors = looked.filter(isErrorSpan);
  const share = looked.length === 0 ? 0 : (errors.length / looked.length) * 100;
  const tooMany = maxCount !== undefined && errors.length > maxCount;
  const tooLarge = hasShare && share > maxPercentage;
  const names = errors.slice(0, 3).map((span) => span.statusMessage ?? span.name);
  return explained(
    !(tooMany || tooLarge) !== inverse,
    `${errors.length} of ${looked.length} spans matching "${pattern}" are errors${names.length > 0 ? `: ${names.join(', ')}` : ''}`,
  );
};
