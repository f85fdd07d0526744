/** Finished runs in a project's store, made without running anything. */
import { join } from 'node:path';
import type { Case } from '../../src/domain/case.ts';
import { caseIndex, caseKey, runId } from '../../src/domain/ids.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Row, RowStatus } from '../../src/domain/row.ts';
import { openStore } from '../../src/store/open-store.ts';
import { promptCase, rowOf } from '../contracts/store.ts';

const entry = (turn: number, speaker: string, content: string, more: object = {}) => ({
  turn,
  speaker,
  content,
  timestamp: '2026-11-15T20:00:00.000Z',
  started_at: '2026-11-15T20:00:00.000Z',
  queue_ms: 0,
  latency_ms: 100,
  ...more,
});

/** A conversation that fails its check in turn 2; the words try to steer the terminal and the page. */
const conversationDetail: Json = {
  session_id: 's',
  scenario: 'angry-client',
  status: 'completed',
  total_turns: 2,
  duration_seconds: 1.8,
  termination_reason: 'end_call_client',
  conversation_history: [
    entry(1, 'agent_agent', 'Parcel desk, how can I help?'),
    entry(1, 'client', 'My parcel never came.\u001b]0;owned\u0007'),
    entry(2, 'agent_agent', 'You will get your money today. <script>alert(1)</script>', {
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup_order', arguments: '{"id":"A-1007"}' } }],
      tool_results: [{ id: 'A-1007', state: 'lost', deep: 'a result that is folded away because it is long' }],
    }),
    entry(2, 'client', 'Thank you.'),
  ],
} as unknown as Json;

export interface StoredRunOptions {
  readonly id: string;
  readonly createdAt: number;
  readonly statuses: readonly RowStatus[];
  readonly name?: string;
  readonly output?: string;
  /** The last case is a conversation. */
  readonly conversation?: boolean;
}

const reasons: Readonly<Partial<Record<RowStatus, Partial<Row>>>> = {
  failed: {
    score: 0,
    verdict: {
      pass: false,
      score: 0,
      reason: 'Expected output to contain "manager"',
      assertion: { type: 'contains', value: 'manager' },
    },
  },
  error: { score: null, output: null, error: { code: 'timeout', message: 'No answer within 60 s.' } },
};

function rowFor(one: Case, status: RowStatus, options: StoredRunOptions): Row {
  const isLast = one.index === options.statuses.length - 1;
  const talk = options.conversation === true && isLast;
  return rowOf(one, {
    status,
    output: options.output ?? `answer ${one.index}`,
    costUsdMicros: 1000,
    ...(talk ? { kind: 'conversation', detail: conversationDetail } : { detail: { prompt: `question ${one.index}` } }),
    ...reasons[status],
  });
}

/** Writes one run; its cases are `refund/1`, `refund/2`, ... */
export async function storedRun(cwd: string, options: StoredRunOptions): Promise<void> {
  const store = await openStore({ at: join(cwd, '.parlane') });
  const { id, createdAt, statuses, name = 'refunds' } = options;
  const run = await store.createRun({ id: runId(id), name, createdAt, snapshot: { id }, options: {} });
  const cases = statuses.map((_, at) =>
    promptCase(at, { name: `refund/${at + 1}`, key: caseKey(`key-${at}`), index: caseIndex(at) }),
  );
  await run.addCases(cases.map((one, position) => ({ position, case: one })));
  await Promise.all(cases.map((one, at) => run.saveRow(rowFor(one, statuses[at] ?? 'passed', options))));
  await run.change({ status: 'complete', planned: statuses.length, endedAt: createdAt + 6000, workedMs: 6000 });
  await store.close();
}
