import type { ServerResponse } from 'node:http';
import type { BehaviourRule } from './behaviour.ts';
import { type LedgerEntry, paidTwice } from './ledger.ts';
import { parseBody } from './read-request.ts';
import type { ServerStatistics } from './statistics.ts';

/** What the control addresses may see and change. */
export interface Controlled {
  readonly statistics: ServerStatistics;
  readonly ledger: readonly LedgerEntry[];
  reset(): void;
  behave(rule: BehaviourRule): void;
}

const commands: Readonly<Record<string, (server: Controlled, body: string) => unknown>> = {
  stats: (server) => server.statistics,
  ledger: (server) => server.ledger,
  'paid-twice': (server) => paidTwice(server.ledger),
  reset: (server) => {
    server.reset();
    return { ok: true };
  },
  behave: (server, body) => {
    server.behave(parseBody(body) as BehaviourRule);
    return { ok: true };
  },
};

/** Answers `/__fault-server/<command>`: how another process reads and steers the server. */
export function answerControl(name: string, body: string, server: Controlled, response: ServerResponse): void {
  const command = commands[name];
  const send = (status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (command === undefined) {
    send(404, { error: `Known commands: ${Object.keys(commands).join(', ')}.` });
    return;
  }
  try {
    send(200, command(server, body));
  } catch (error) {
    send(400, { error: error instanceof Error ? error.message : String(error) });
  }
}
