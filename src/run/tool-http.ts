import type { HttpClient, HttpFaultCode } from '../providers/http-client.ts';
import type { HttpPort } from '../tools/http-port.ts';

const sentences: Readonly<Record<HttpFaultCode, string>> = {
  aborted: 'the call was cancelled',
  deadline: 'its server did not answer in time',
  idle: 'its server stopped in the middle of the answer',
  'too-large': 'its answer is too large',
  'bad-encoding': 'its answer could not be decoded',
  'name-unknown': 'its host name does not exist',
  refused: 'its server refused the connection',
  tls: 'the certificate of its server could not be verified',
  reset: 'the connection broke',
  'blocked-address': 'its address is not allowed',
  'foreign-key': 'a key is bound to another origin',
  'invalid-request': 'the request could not be made',
  other: 'the request failed',
};

/** Tools and webhooks over the one way to the network: its rules (no redirects, blocked addresses, limits) are theirs too. */
export function toolHttp(client: HttpClient): HttpPort {
  return {
    async post({ url, headers, body, timeoutMs, maxBytes, signal }) {
      if (!URL.canParse(url)) return { kind: 'fault', message: 'its address is not a URL' };
      const request = { method: 'POST', url: new URL(url), headers, body, timeoutMs };
      const result = await client.send(request, { signal });
      if (result.kind === 'fault') {
        const kind = result.code === 'deadline' || result.code === 'idle' ? 'timeout' : 'fault';
        return { kind, message: `${sentences[result.code]} (${result.detail})` };
      }
      if (result.text.length > maxBytes)
        return { kind: 'fault', message: `its answer is larger than ${maxBytes} bytes` };
      return { kind: 'answer', status: result.status, text: result.text };
    },
  };
}
