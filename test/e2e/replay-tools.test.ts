/** Tools that answer as an earlier run recorded: nothing is called again, wherever a conversation is played. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EvalPlace } from '../support/eval-process.ts';

/** A tool with side effects: every call leaves a line, and no two answers are alike. */
const tool = `
import { appendFileSync, readFileSync } from 'node:fs';
const log = new URL('./calls.log', import.meta.url);
export function find(args) {
  appendFileSync(log, JSON.stringify(args) + '\\n');
  return { id: args.id, name: 'parcel ' + readFileSync(log, 'utf8').split('\\n').length };
}
`;

const findOrder = (backend: object): object => ({
  description: 'Finds an order by its id.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  backend,
});

const agent = { name: 'Desk', prompt: 'You find parcels.', tools: ['find_order', 'end_call'] };
const specification = (
  backend: object,
  client: object = { client: { name: 'Caller', prompt: 'You wait.' } },
): object => ({
  name: 'desk',
  version: '1',
  agents: { agent, ...client },
  tools: { find_order: findOrder(backend) },
});

const real = { module: 'tool.mjs#find' };
const models = { agent: 'sim:agent?latency=0ms', client: 'sim:client?latency=0ms' };
/** Both ask for the same order; each was told something else about it. */
const scenarios = [
  { name: 'one', variables: {}, script: ['Where is A-1007?', 'And A-2040?', 'Bye.'] },
  { name: 'two', variables: {}, script: ['Where is A-2040?', 'And A-1007?', 'Bye.'] },
];

interface Told {
  readonly run: string;
  readonly cases: readonly { readonly name: string; readonly detail: { readonly conversation_history: unknown[] } }[];
}

class Desk extends EvalPlace {
  constructor() {
    super();
    mkdirSync(join(this.folder, 'prompts'));
    this.file('prompts/tool.mjs', tool).file('tool.mjs', tool).answering(real);
    this.file('parlane.yaml', { conversations: [{ spec: 'desk', models, scenarios }] });
  }

  answering(backend: object): this {
    return this.file('prompts/desk.json', JSON.stringify(specification(backend), null, 2));
  }

  calls(file = 'prompts/calls.log'): number {
    return readFileSync(join(this.folder, file), 'utf8').split('\n').length - 1;
  }

  /** Plays and gives back what tools answered, by case. */
  async played(...args: string[]): Promise<Told> {
    const { code, out, err } = await this.start([...args, '--json']).ended;
    expect([code, err.includes('bug')]).toEqual([0, false]);
    const events = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const rows = events.flatMap((event) => (event.type === 'case-end' ? [event.row] : []));
    return { run: events.find(({ run }) => run !== undefined).run, cases: rows };
  }
}

const answers = ({ cases }: Told): object =>
  Object.fromEntries(
    cases.map(({ name, detail }) => [
      name,
      detail.conversation_history.map((entry) => {
        const { content, tool_results } = entry as { content: string; tool_results?: unknown };
        return { content, tool_results };
      }),
    ]),
  );

describe.concurrent('a tool that replays a run', { timeout: 120_000 }, () => {
  it('gives each conversation its recorded answers and is never called, in run, retry, fork and replay', async () => {
    using desk = new Desk();
    const first = await desk.played('run');
    expect(desk.calls()).toBe(4);
    desk.answering({ replay: first.run });
    const second = await desk.played('run');
    expect(answers(second)).toEqual(answers(first));
    const again = await desk.start(['retry', '2', '--json']).ended;
    const forked = await desk.start(['fork', '1', '--after', '2', '--tries', '1', '--json', '--run', second.run]).ended;
    expect([again.code, forked.code]).toEqual([0, 0]);
    const [{ row }] = JSON.parse(forked.out).tries;
    expect(answers({ run: '', cases: [row] })).toMatchObject({ one: (answers(first) as { one: object }).one });
    const replayed = await desk.start(['replay', '1', '--run', second.run]).ended;
    expect([replayed.code, replayed.out]).toEqual([0, expect.stringContaining('identical')]);
    expect(desk.calls()).toBe(4);
  });

  it('plays in a batch, and on in a run that was stopped', async () => {
    using desk = new Desk();
    desk.file('list.json', JSON.stringify(scenarios));
    const flags = ['--spec', 'desk', '--agent-model', models.agent, '--client-model', models.client, '--json'];
    const batch = async (file: string): Promise<{ id: string; said: object }> => {
      const { out } = await desk.start(['simulate', 'list.json', ...flags, '-o', file]).ended;
      const { results } = JSON.parse(readFileSync(join(desk.folder, file), 'utf8'));
      const cases = results.map((detail: { scenario: string }) => ({ name: detail.scenario, detail }));
      return { id: JSON.parse(out).batch_id, said: answers({ run: '', cases }) };
    };
    const first = await batch('a.json');
    desk.answering({ replay: first.id });
    const second = await batch('b.json');
    expect(second.said).toEqual(first.said);
    expect((await desk.start(['retry', '1', '--run', second.id, '--json']).ended).code).toBe(0);
    // A call takes longer than half the time there is: the run stops in the middle of its conversations.
    const slow = { ...models, agent: 'sim:agent?latency=600ms' };
    desk.file('parlane.yaml', { conversations: [{ spec: 'desk', models: slow, scenarios }] });
    expect((await desk.start(['run', '--max-time', '1s', '--no-forecast']).ended).code).toBe(3);
    expect((await desk.start(['resume', '--json']).ended).code).toBe(0);
    expect((await desk.start(['export', 'latest', '-o', 'c.jsonl']).ended).code).toBe(0);
    const told = readFileSync(join(desk.folder, 'c.jsonl'), 'utf8').split('\n').filter(Boolean);
    expect(answers({ run: '', cases: told.map((line) => JSON.parse(line)) })).toEqual(first.said);
    expect(desk.calls()).toBe(4);
  });

  it('plays in an eval whose simulated user talks to agents', async () => {
    using desk = new Desk();
    const config = (backend: object): object => ({
      providers: [models.agent],
      prompts: ['You find parcels.'],
      tests: [1, 2].map((number) => ({
        description: `call ${number}`,
        vars: { instructions: 'to know where order A-1007 is' },
        provider: {
          id: 'promptfoo:simulated-user',
          config: { userProvider: models.client, maxTurns: 3, specification: specification(backend, {}) },
        },
      })),
    });
    await desk.config(config(real)).eval(['-c', 'promptfooconfig.yaml']);
    const first = desk.rows();
    const called = desk.calls('calls.log');
    expect(called).toBeGreaterThanOrEqual(2);
    const { runs } = JSON.parse((await desk.start(['runs', '--json']).ended).out);
    await desk.config(config({ replay: runs[0].id })).eval(['-c', 'promptfooconfig.yaml']);
    expect(desk.rows().map(({ response }) => response?.output)).toEqual(first.map(({ response }) => response?.output));
    expect(desk.calls('calls.log')).toBe(called);
    const text = JSON.stringify(config({ replay: 'no-such-run' }), null, 2);
    const refused = await desk.config(text).eval(['-c', 'promptfooconfig.yaml']);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/promptfooconfig\.yaml:\d+:\d+ .*replays the run "no-such-run", which is not in the/);
    expect(refused.err).toContain('nothing was spent');
  });
});

describe.concurrent('a recording that is not there', { timeout: 120_000 }, () => {
  it('is told at its line, with where was looked and what there is, before anything is sent', async () => {
    using desk = new Desk();
    const { run } = await desk.played('run');
    desk.answering({ replay: `${run}x` });
    const slip = await desk.start(['run']).ended;
    expect(slip.code).toBe(2);
    expect(slip.err).toMatch(/prompts\/desk\.json:\d+:\d+ {2}the tool "find_order" replays the run/);
    for (const part of [`${desk.folder}/.parlane`, `did you mean "${run}"?`, '--store', 'nothing was spent'])
      expect(slip.err).toContain(part);
    desk.answering({ replay: run });
    const elsewhere = await desk.start(['run', '--store', 'other']).ended;
    expect([elsewhere.code, elsewhere.err]).toEqual([2, expect.stringContaining(`${desk.folder}/other`)]);
    const batch = await desk.start(['simulate', 'list.json', '--spec', 'desk', '--store', 'other']).ended;
    expect(batch.code).toBe(2);
    expect(JSON.parse((await desk.start(['runs', '--json']).ended).out).runs).toHaveLength(1);
    expect(desk.calls()).toBe(4);
  });

  it('is refused too when the run never called the tool, and when it was deleted before a retry', async () => {
    using desk = new Desk();
    desk.file('parlane.yaml', {
      conversations: [{ spec: 'desk', models, scenarios: [{ name: 'short', variables: {}, script: ['Bye.'] }] }],
    });
    const { run: silent } = await desk.played('run');
    desk.file('parlane.yaml', { conversations: [{ spec: 'desk', models, scenarios }] });
    desk.answering({ replay: silent });
    const refused = await desk.start(['run']).ended;
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(`the run "${silent}" recorded no answer of the tool "find_order"`);
    const { run: full } = await desk.answering(real).played('run');
    const { run: third } = await desk.answering({ replay: full }).played('run');
    expect((await desk.start(['runs', 'delete', full]).ended).code).toBe(0);
    for (const args of [
      ['retry', '1'],
      ['fork', '1', '--after', '1'],
      ['resume', third, '--errors-too'],
    ]) {
      const gone = await desk.start(args).ended;
      expect([args[0], gone.code, gone.err]).toEqual([args[0], 2, expect.stringContaining(`The run ${third}`)]);
    }
    // What is recorded already needs no recording.
    expect((await desk.start(['replay', '1', '--run', third]).ended).code).toBe(0);
  });
});
