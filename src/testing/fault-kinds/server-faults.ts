import type { FaultAct } from '../fault-act.ts';
import type { FaultKind } from '../fault-kinds.ts';
import type { ErrorClass } from '../wires/wire.ts';

const failed =
  (status: number, error: ErrorClass, message: string, headers: Record<string, string> = {}) =>
  (): FaultAct => ({ do: 'error', error: { status, class: error, message }, headers });

const page = (title: string): string =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

const html = (status: number, title: string) => (): FaultAct => ({
  do: 'verbatim',
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: page(title),
});

const redirect =
  (status: number, to: 'same-origin' | 'metadata' = 'same-origin') =>
  (): FaultAct => ({
    do: 'redirect',
    status,
    to,
  });

export const serverFaults: readonly FaultKind[] = [
  { kind: 17, group: 'server', title: '500', variants: { '500': failed(500, 'server', 'Internal error') } },
  {
    kind: 18,
    group: 'server',
    title: '502, 503, 504',
    variants: {
      '502': failed(502, 'server', 'Bad gateway'),
      '503': failed(503, 'overloaded', 'The server is overloaded'),
      '504': failed(504, 'timeout', 'Gateway timeout'),
    },
  },
  { kind: 19, group: 'server', title: '529 overloaded', variants: { '529': failed(529, 'overloaded', 'Overloaded') } },
  {
    kind: 20,
    group: 'server',
    title: '520 to 524 of a proxy in front',
    variants: {
      '520': html(520, 'Web server is returning an unknown error'),
      '522': html(522, 'Connection timed out'),
      '524': html(524, 'A timeout occurred'),
    },
  },
  {
    kind: 21,
    group: 'server',
    title: '408, 409, 425',
    variants: {
      '408': failed(408, 'timeout', 'Request timeout'),
      '409': failed(409, 'conflict', 'Conflict'),
      '425': failed(425, 'conflict', 'Too early'),
    },
  },
  {
    kind: 22,
    group: 'server',
    title: '500 that says it should not be retried',
    variants: { 'should-not': failed(500, 'server', 'Internal error', { 'x-should-retry': 'false' }) },
  },
  { kind: 23, group: 'server', title: '503 for a long time', variants: { outage: failed(503, 'overloaded', 'Down') } },
  {
    kind: 24,
    group: 'server',
    title: 'a redirect',
    variants: {
      '307': redirect(307),
      '301': redirect(301),
      '302': redirect(302),
      '308': redirect(308),
      metadata: redirect(302, 'metadata'),
    },
  },
  { kind: 25, group: 'server', title: '200 with a web page', variants: { html: html(200, 'Sign in to the network') } },
  {
    kind: 26,
    group: 'server',
    title: '200 with a failure inside',
    variants: {
      error: () => ({ do: 'reply', quirks: { failedInside: 'error' } }),
      finish: () => ({ do: 'reply', quirks: { failedInside: 'finish' } }),
      status: () => ({ do: 'reply', quirks: { failedInside: 'status' } }),
    },
  },
  {
    kind: 27,
    group: 'server',
    title: 'an empty body',
    variants: {
      empty: () => ({ do: 'verbatim', status: 200, headers: { 'content-type': 'application/json' }, body: '' }),
      '204': () => ({ do: 'verbatim', status: 204, headers: {}, body: '' }),
    },
  },
  {
    kind: 28,
    group: 'server',
    title: 'valid JSON under a wrong content type',
    variants: { text: () => ({ do: 'reply', headers: { 'content-type': 'text/plain' } }) },
  },
];
