import type { ErrorClass, ServerError } from './wire.ts';

/** `type` and `code` as OpenAI writes them. */
const words: Readonly<Record<ErrorClass, readonly [type: string, code: string | null]>> = {
  rate_limited: ['requests', 'rate_limit_exceeded'],
  tokens_limited: ['tokens', 'rate_limit_exceeded'],
  daily: ['requests', 'rate_limit_exceeded'],
  quota: ['insufficient_quota', 'insufficient_quota'],
  overloaded: ['server_error', 'server_is_overloaded'],
  server: ['server_error', null],
  timeout: ['timeout', null],
  conflict: ['invalid_request_error', 'conflict'],
  auth: ['invalid_request_error', 'invalid_api_key'],
  region: ['request_forbidden', 'unsupported_country_region_territory'],
  not_found: ['invalid_request_error', 'model_not_found'],
  context_length: ['invalid_request_error', 'context_length_exceeded'],
  content_filter: ['invalid_request_error', 'content_filter'],
  too_large: ['tokens', 'rate_limit_exceeded'],
  skewed_clock: ['invalid_request_error', null],
  invalid: ['invalid_request_error', null],
};

export function openaiError(error: ServerError): object {
  const [type, code] = words[error.class];
  return { error: { message: error.message, type, param: null, code } };
}

/** Azure writes the status as its code, and a filter verdict into `innererror`. */
export function azureError(error: ServerError): object {
  if (error.class === 'content_filter') {
    const filtered = { violence: { filtered: true, severity: 'high' }, hate: { filtered: false, severity: 'safe' } };
    const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: filtered };
    return {
      error: { message: error.message, type: null, param: 'prompt', code: 'content_filter', status: 400, innererror },
    };
  }
  if (error.class === 'not_found') return { error: { code: 'DeploymentNotFound', message: error.message } };
  if (error.class === 'rate_limited' || error.class === 'tokens_limited') {
    return { error: { code: '429', message: error.message } };
  }
  return openaiError(error);
}
