import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { caseIndex, laneKey } from '../domain/ids.ts';
import type { Outcome, Reply } from '../domain/reply.ts';
import { askControl, type ControlServer, serveControl } from '../platform/control-socket.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { Lanes } from './lanes.ts';
import { RunControl } from './run-control.ts';

const reply: Reply = {
  kind: 'reply',
  text: '',
  output: '',
  toolCalls: [],
  finishReason: 'stop',
  status: 200,
  raw: '',
  flags: [],
  cached: false,
};
const [openai, anthropic] = [laneKey('openai:gpt:1a2b'), laneKey('anthropic:sonnet:3c4d')];

let folder: string;
let server: ControlServer;
let lanes: Lanes;
let answers: ((outcome: Outcome) => void)[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parlane-ctl-test-'));
  lanes = new Lanes({ clock: new VirtualClock() });
  lanes.openLane({ key: openai, limits: { rpm: 60, maxConcurrent: 1 } });
  lanes.openLane({ key: anthropic });
  answers = [];
  server = await serveControl(folder, (request) => new RunControl(lanes, { run: 'r1' }).answer(request));
});

afterEach(() => {
  server.close();
  lanes.shutdown();
  rmSync(folder, { recursive: true, force: true });
});

const submit = (index: number): Promise<unknown> =>
  lanes.submit({
    lane: openai,
    index: caseIndex(index),
    path: '1/agent/0/0',
    estimate: { input: 1, output: 1 },
    expectedCalls: 1,
    made: 0,
    perform: () => new Promise((resolve) => answers.push(resolve)),
  });

const ask = async (request: unknown): Promise<Record<string, unknown>> => {
  const answer = await askControl(folder, request);
  return (answer?.ok ?? answer) as Record<string, unknown>;
};

describe('a run under way answers over a socket in its store folder', () => {
  it('that only its user can reach, and that is gone when the run is over', async () => {
    const path = join(folder, `ctl-${process.pid}.sock`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await ask({ do: 'status' })).toMatchObject({ run: 'r1', lanes: [{ key: openai }, { key: anthropic }] });
    server.close();
    expect(await askControl(folder, { do: 'status' })).toBeUndefined();
  });

  it('pauses and resumes one lane by any part of its name, or all', async () => {
    expect(await ask({ do: 'pause', lane: 'anthropic' })).toEqual({ lanes: [anthropic] });
    expect(lanes.snapshot().map(({ cause }) => cause.kind)).toEqual(['nothing-left', 'paused']);
    expect(await ask({ do: 'resume' })).toEqual({ lanes: [openai, anthropic] });
    expect(lanes.snapshot().map(({ cause }) => cause.kind)).toEqual(['nothing-left', 'nothing-left']);
  });

  it('changes limits', async () => {
    await ask({ do: 'limit', lane: openai, limits: { rpm: 120, maxConcurrent: 3 } });
    expect(lanes.snapshot()[0]).toMatchObject({ rpm: 120, maxConcurrentConfig: 3 });
    expect(await ask({ do: 'limit', lane: openai, limits: { rpm: -1 } })).toMatchObject({
      error: expect.stringContaining('rpm is -1'),
    });
  });

  it('says why a case waits: where its calls are and what their lane waits for', async () => {
    const both = [submit(0), submit(511)];
    expect(await ask({ do: 'why', case: 1 })).toMatchObject({ calls: [{ running: true, lane: openai, attempts: 1 }] });
    expect(await ask({ do: 'why', case: 512 })).toMatchObject({
      case: 512,
      calls: [{ running: false, path: '1/agent/0/0', snapshot: { cause: { kind: 'concurrency' } } }],
    });
    expect(await ask({ do: 'why', case: 7 })).toMatchObject({ calls: [] });
    lanes.abort();
    for (const answer of answers) answer(reply);
    await Promise.all(both);
  });

  it('cancels a case and leaves the others alone', async () => {
    const [first, second] = [submit(0), submit(1)];
    await ask({ do: 'cancel', case: 2 });
    expect(await second).toMatchObject({ outcome: { code: 'aborted' } });
    answers[0]?.(reply);
    expect(await first).toMatchObject({ outcome: { kind: 'reply' } });
  });

  it('refuses to cancel a case that somebody has cancelled, in the word that people know', async () => {
    const control = new RunControl(lanes, {}, async () => ({ known: true, ended: 'aborted' }));
    await expect(control.answer({ do: 'cancel', case: 2 })).rejects.toThrow('Case #2 has ended (cancelled).');
  });

  it.each([
    [{ do: 'explode' }, /Ask for one of: status/],
    [{ do: 'why', case: 'x' }, /not the number of a case/],
    [{ do: 'pause', lane: 'nowhere' }, /There is no lane "nowhere"\. Lanes: openai/],
    ['nonsense', /not a request/],
  ])('refuses %j with what to do', async (request, message) => {
    expect(String((await ask(request))['error'])).toMatch(message);
  });
});
