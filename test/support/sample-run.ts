/**
 * A made-up run as a stream of events and rows, for the tests, benches and pictures of everything that shows runs.
 * Seeded: the same options give the same run. Times are simulated, nothing sleeps.
 */
import { type CaseIndex, caseIndex, caseKey, type LaneKey, laneKey, runId } from '../../src/domain/ids.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Row, RowStatus } from '../../src/domain/row.ts';
import type { RunEvent } from '../../src/domain/run-event.ts';
import { laneLabel } from '../../src/reporters/lane-label.ts';
import type { RunReader } from '../../src/reporters/run-reader.ts';

export interface SampleLane {
  readonly key: string;
  /** Cases it takes, in flight at most, milliseconds a call. */
  readonly cases: number;
  readonly limit: number;
  readonly latencyMs: number;
  /** Milliseconds from one start to the next, at least. */
  readonly gapMs?: number;
  /** When a 429 blocks it, and for how long. */
  readonly blocks?: readonly { readonly at: number; readonly forMs: number }[];
}

export interface SampleOptions {
  readonly lanes: readonly SampleLane[];
  readonly seed?: number;
  readonly startedAt?: number;
  /** Share of cases that fail, and that end in errors. */
  readonly failing?: number;
  readonly erring?: number;
  /** Every n-th case is a conversation. */
  readonly conversationEvery?: number;
  /** Turns of each conversation; 2 to 5 when absent. */
  readonly turns?: number;
  readonly row?: (index: number, row: Row) => Row;
}

export const sampleLanes: readonly SampleLane[] = [
  { key: 'openai:gpt-5-mini:9f2c41d0', cases: 300, limit: 8, latencyMs: 1900 },
  {
    key: 'anthropic:sonnet:77aa01bc',
    cases: 220,
    limit: 8,
    latencyMs: 2400,
    blocks: [
      { at: 22_000, forMs: 9_000 },
      { at: 55_000, forMs: 34_000 },
    ],
  },
  { key: 'http:my-agent', cases: 160, limit: 2, latencyMs: 900 },
  { key: 'judge:gpt-5:1234abcd', cases: 100, limit: 4, latencyMs: 1100 },
];

function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const topics = [
  'refund/over-limit',
  'refund/partial',
  'order/status',
  'order/lost',
  'greeting/polite',
  'policy/secrets',
];

/** Made-up words of made-up sentences: packs about as well as real text does. */
function prose(random: () => number, words: number): string {
  const syllables = 'ka lo mi ter an so re vun di pel or na ish gra tu be sen co'.split(' ');
  const word = (): string => {
    // Squared: some words come often, most seldom.
    let left = Math.floor(random() ** 2 * 4000);
    let text = '';
    do {
      text += syllables[left % syllables.length];
      left = Math.floor(left / syllables.length);
    } while (left > 0);
    return text;
  };
  return `${Array.from({ length: words }, word).join(' ')}.`;
}

const conversation = (index: number, failed: boolean, turns: number, long: boolean): Json => ({
  session_id: `session-${index}`,
  scenario: 'scenario/angry-client',
  status: 'completed',
  termination_reason: 'end_call_client',
  total_turns: turns,
  duration_seconds: 1.8 * turns,
  start_time: '2026-11-15T10:00:00.000Z',
  end_time: '2026-11-15T10:00:30.000Z',
  tools_used: true,
  tool_call_count: 2,
  conversation_history: Array.from({ length: turns }, (_, at) => at + 1)
    .flatMap((turn) => [agentEntry(index, turn, failed && turn === turns), clientEntry(turn, turn === turns)])
    .map((entry, at) => (long ? lengthen(entry, index * 100 + at) : entry)),
});

function lengthen(entry: Json, seed: number): Json {
  const random = mulberry(seed);
  const fields = entry as { readonly [key: string]: Json };
  const results = fields['tool_results'] === undefined ? {} : { tool_results: [{ found: prose(random, 60) }] };
  return { ...fields, ...results, content: prose(random, 50), timestamp: new Date(1.79e12 + seed * 997).toISOString() };
}

function agentEntry(index: number, turn: number, broken: boolean): Json {
  const base = {
    turn,
    speaker: 'agent_support',
    timestamp: '2026-11-15T10:00:01.000Z',
    latency_ms: 1300,
    queue_ms: 40,
  };
  if (turn === 1) return { ...base, content: 'Parcel desk, good morning. How can I help?' };
  const call = {
    id: `call_${index}_${turn}`,
    type: 'function',
    function: { name: 'lookup_order', arguments: `{"id":"A-${1000 + index}"}` },
  };
  const content = broken
    ? 'You will get your money today.'
    : `Let me look that up for you, one moment please (${turn}).`;
  return {
    ...base,
    content,
    tool_calls: [call],
    tool_results: [{ id: `A-${1000 + index}`, state: 'lost', price: 31.5 }],
  };
}

function clientEntry(turn: number, last: boolean): Json {
  const base = { turn, speaker: 'client', timestamp: '2026-11-15T10:00:03.000Z', latency_ms: 700, queue_ms: 0 };
  if (!last)
    return {
      ...base,
      content: turn === 1 ? 'My parcel never came. I want my money back.' : 'And how long will that take?',
    };
  const end = { id: 'call_end', type: 'function', function: { name: 'end_call', arguments: '{"reason":"satisfied"}' } };
  return { ...base, content: 'Thank you.', tool_calls: [end] };
}

function statusOf(random: () => number, options: SampleOptions): RowStatus {
  const dice = random();
  const erring = options.erring ?? 0.004;
  if (dice < erring) return 'error';
  return dice < erring + (options.failing ?? 0.05) ? 'failed' : 'passed';
}

function sampleRow(index: number, column: number, status: RowStatus, options: SampleOptions): Row {
  const every = options.conversationEvery ?? 5;
  const isConversation = index % every === every - 1;
  const failed = status === 'failed';
  const turns = options.turns ?? 2 + (index % 4);
  const reason = isConversation
    ? 'The agent promised a refund without approval'
    : 'Expected output to contain "manager"';
  const check = {
    pass: !failed,
    score: failed ? 0 : 1,
    reason: failed ? reason : 'ok',
    assertion: isConversation
      ? { type: 'llm-rubric', value: 'no promises', metric: 'no-promises' }
      : { type: 'contains', value: 'manager' },
    ...(isConversation ? { metadata: { turn: turns } } : {}),
  };
  const row: Row = {
    index: caseIndex(index),
    key: caseKey(`key-${index}`),
    name: isConversation ? 'scenario/angry-client' : (topics[index % topics.length] ?? ''),
    kind: isConversation ? 'conversation' : 'prompt',
    column,
    repeat: 0,
    status,
    score: status === 'error' ? null : check.score,
    output: isConversation
      ? 'Thank you.'
      : failed
        ? 'You will get your money today.'
        : 'Please ask a manager about that.',
    ...(status === 'error'
      ? { error: { code: 'timeout', message: 'No answer within 60 s. Raise timeoutMs or try again with --errors.' } }
      : { verdict: { ...check, componentResults: [check] } }),
    detail: isConversation
      ? conversation(index, failed, turns, options.turns !== undefined)
      : { prompt: 'You are a refund desk. A customer asks: where is my money?' },
    latencyMs: 1000 + ((index * 37) % 2000),
    queueMs: (index * 13) % 400,
    backoffMs: 0,
    attempts: 1,
    usage: { inputTokens: 200 + (index % 50), outputTokens: 60 + (index % 30) },
    costUsdMicros: 2300 + (index % 7) * 100,
  };
  return options.row?.(index, row) ?? row;
}

interface Flight {
  readonly at: number;
  readonly lane: number;
  readonly index: number;
}

/** The whole run, in order of time. */
export function* sampleRun(options: SampleOptions): Generator<RunEvent> {
  const random = mulberry(options.seed ?? 7);
  const startedAt = options.startedAt ?? Date.UTC(2026, 10, 15, 10, 0, 0);
  const total = options.lanes.reduce((sum, lane) => sum + lane.cases, 0);
  const keys: LaneKey[] = options.lanes.map(({ key }) => laneKey(key));
  const left = options.lanes.map(({ cases }) => cases);
  const busy = options.lanes.map(() => 0);
  const openAt = options.lanes.map(() => startedAt);
  const nextAt = options.lanes.map(() => startedAt);
  const queues: number[][] = options.lanes.map(() => []);
  const pendingBlocks = options.lanes.map(({ blocks }) => [...(blocks ?? [])]);
  const flights: Flight[] = [];
  const started = new Set<number>();
  const totals = { planned: total, passed: 0, failed: 0, errors: 0, skipped: 0, aborted: 0 };
  let index = 0;
  let completed = 0;
  let now = startedAt;
  let spent = 0;
  yield { type: 'run-start', run: runId('42'), at: startedAt, planned: total, resumed: false };

  /** A window of calls waits in each lane, as in a real run; the rest of the plan is not yet submitted. */
  function* submit(at: number, key: LaneKey): Generator<RunEvent> {
    const queue = queues[at] ?? [];
    while ((left[at] ?? 0) > 0 && queue.length < 64) {
      left[at] = (left[at] ?? 0) - 1;
      queue.push(index);
      yield { type: 'call-queue', lane: key, call: index, index: caseIndex(index), at: now };
      index++;
    }
  }

  function* fillLane(at: number): Generator<RunEvent> {
    const lane = options.lanes[at];
    const key = keys[at];
    if (lane === undefined || key === undefined) return;
    yield* submit(at, key);
    const limit = (openAt[at] ?? 0) > startedAt ? Math.ceil(lane.limit / 2) : lane.limit;
    while ((busy[at] ?? 0) < limit && (openAt[at] ?? 0) <= now && (nextAt[at] ?? 0) <= now) {
      const next = queues[at]?.shift();
      if (next === undefined) return;
      busy[at] = (busy[at] ?? 0) + 1;
      nextAt[at] = now + (lane.gapMs ?? 0);
      const id: CaseIndex = caseIndex(next);
      if (!started.has(next))
        yield { type: 'case-start', index: id, name: topics[next % topics.length] ?? '', at: now };
      started.add(next);
      yield { type: 'call-start', lane: key, call: next, index: id, at: now, attempt: 1 };
      land({ at: now + lane.latencyMs * (0.5 + random()), lane: at, index: next });
    }
  }

  /** Kept in order, latest first: the next to land is the last. */
  function land(flight: Flight): void {
    let at = flights.length;
    while (at > 0 && (flights[at - 1]?.at ?? 0) < flight.at) at--;
    flights.splice(at, 0, flight);
  }

  function* block(at: number): Generator<RunEvent> {
    const next = pendingBlocks[at]?.[0];
    const key = keys[at];
    if (next === undefined || key === undefined || now < startedAt + next.at) return;
    pendingBlocks[at]?.shift();
    openAt[at] = now + next.forMs;
    for (const flight of flights.filter(({ lane }) => lane === at).slice(0, 2)) {
      flights.splice(flights.indexOf(flight), 1);
      queues[at]?.unshift(flight.index);
      busy[at] = (busy[at] ?? 0) - 1;
      const id = caseIndex(flight.index);
      yield {
        type: 'call-requeue',
        lane: key,
        call: flight.index,
        index: id,
        at: now,
        notBefore: now,
        reason: 'rate-limited',
      };
    }
    yield { type: 'lane-block', lane: key, at: now, until: now + next.forMs, resource: 'requests' };
    yield { type: 'lane-concurrency', lane: key, at: now, from: 8, to: 4, reason: 'rate-limited' };
  }

  for (;;) {
    for (let at = 0; at < keys.length; at++) {
      yield* block(at);
      yield* fillLane(at);
    }
    const flight = flights.pop();
    const opening = openAt
      .map((open, at) => Math.max(open, nextAt[at] ?? 0))
      .filter((open, at) => open > now && (queues[at]?.length ?? 0) > 0);
    if (flight === undefined && opening.length === 0) break;
    if (flight === undefined || opening.some((open) => open < flight.at)) {
      if (flight !== undefined) flights.push(flight);
      now = Math.min(...opening);
      continue;
    }
    now = flight.at;
    busy[flight.lane] = (busy[flight.lane] ?? 0) - 1;
    const id = caseIndex(flight.index);
    const key = keys[flight.lane] ?? laneKey('');
    yield { type: 'call-end', lane: key, call: flight.index, index: id, at: now, result: 'ok' };
    const row = sampleRow(flight.index, flight.lane, statusOf(random, options), options);
    totals[row.status === 'error' ? 'errors' : row.status]++;
    completed++;
    spent += row.costUsdMicros ?? 0;
    yield { type: 'spend', at: now, usdMicros: spent, unknown: 0 };
    yield { type: 'case-end', index: id, at: now, status: row.status, row, completed, total };
  }
  yield { type: 'run-end', run: runId('42'), at: now, totals, complete: true };
}

/** A finished sample run behind the port that exports read through. */
export function sampleReader(options: SampleOptions, title = 'refund-bot'): RunReader {
  const columns = options.lanes.map(({ key }, position) => ({
    position,
    provider: laneLabel(laneKey(key)),
    prompt: 'refund.md',
  }));
  const startedAt = options.startedAt ?? Date.UTC(2026, 10, 15, 10, 0, 0);
  // A small run is made up once; a large one anew for every pass, so that it never stands in memory.
  const small = options.lanes.reduce((sum, lane) => sum + lane.cases, 0) <= 5_000;
  const kept = small ? [...sampleRun(options)] : undefined;
  const play = (): Iterable<RunEvent> => kept ?? sampleRun(options);
  return {
    async info() {
      let end: RunEvent | undefined;
      for (const event of play()) end = event;
      if (end?.type !== 'run-end') throw new Error('a sample run has an end');
      const { totals, complete, at } = end;
      return {
        id: '42',
        title,
        startedAt,
        durationMs: at - startedAt,
        totals,
        complete,
        columns,
        facts: { seed: '7' },
      };
    },
    async *rows() {
      const waiting = new Map<number, Row>();
      let next = 0;
      for (const event of play()) {
        if (event.type !== 'case-end') continue;
        waiting.set(event.index, event.row);
        for (let row = waiting.get(next); row !== undefined; row = waiting.get(next)) {
          waiting.delete(next);
          next++;
          yield row;
        }
      }
    },
    async *events() {
      yield* play();
    },
  };
}
