import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noPorts, specificationOf } from '../../test/conversation/desk.ts';
import { MemoryEffects, memoryJournal } from '../conversation/memory-effects.ts';
import type { Json } from '../domain/json.ts';
import { type ClosableCodeRunner, createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { createHttpClient, type HttpClient } from '../providers/http-client.ts';
import { toolHttp } from '../run/tool-http.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { ToolEmulator, type ToolPorts, type ToolSession } from './tool-emulator.ts';

const yaml = (tools: string, world = '{}'): string => `name: t
version: "1"
world: ${world}
agents:
  agent: {name: A, prompt: a, tools: [${[...tools.matchAll(/^ {2}(\w+):/gm)].map((match) => match[1]).join(', ')}]}
  client: {name: C, prompt: c}
tools:
${tools}`;

const object = '{type: object, properties: {x: {}}}';

async function rig(tools: string, ports: Partial<ToolPorts> = {}, world?: string, folder?: string) {
  const snapshot = await specificationOf(yaml(tools, world));
  const effects = new MemoryEffects({ model: () => Promise.reject(new Error('no model')) });
  const emulator = new ToolEmulator({ ...snapshot, folder: folder ?? snapshot.folder }, { ...noPorts, ...ports });
  const session = emulator.openSession('s1', 'seed');
  let count = 0;
  const call = async (name: string, args: Json | string, timeoutMs = 60_000) => {
    count += 1;
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return (await emulator.run(session, { path: `1/agent/1/${count}`, name, arguments: text, timeoutMs }, effects))
      .result;
  };
  return { call, session, effects, emulator };
}

describe('a static tool', () => {
  it('gives its fixed answer', async () => {
    const { call } = await rig(`  a: {description: d, parameters: ${object}, backend: {static: {ok: [1]}}}`);
    expect(await call('a', {})).toEqual({ ok: [1] });
  });
});

describe('a script tool', () => {
  it('answers by the first rule that fits arguments, number of calls or state', async () => {
    const { call } = await rig(
      `  a:
    description: d
    parameters: ${object}
    backend:
      script:
        - {when: {args: {x: {contains: liver}}}, reply: "found {{ args.x }}"}
        - {when: {calls: 2}, reply: second}
        - {when: {state: {open: true}}, reply: {nested: ["open {{ calls }}"]}}`,
      {},
      '{open: true}',
    );
    expect(await call('a', { x: 'Chicken LIVER {{ calls }}' })).toBe('found Chicken LIVER {{ calls }}');
    expect(await call('a', {})).toBe('second');
    expect(await call('a', {})).toEqual({ nested: ['open 3'] });
  });

  it('fails when no rule fits', async () => {
    const { call } = await rig(
      `  a: {description: d, parameters: ${object}, backend: {script: [{when: {calls: 9}, reply: x}]}}`,
    );
    expect(await call('a', {})).toEqual({ error: 'Tool execution failed: no rule of its script fits this call' });
  });
});

describe('state tools', () => {
  const tools = `  put: {description: d, parameters: ${object}, backend: {state: {do: insert, at: cart, initial: [], key: id}}}
  take: {description: d, parameters: ${object}, backend: {state: {do: remove, at: cart, key: id}}}
  look: {description: d, parameters: ${object}, backend: {state: {do: get, at: cart}}}
  name: {description: d, parameters: ${object}, backend: {state: {do: set, at: "names.{id}", from: name}}}
  find: {description: d, parameters: ${object}, backend: {state: {do: list, at: goods, search: {by: q, in: [name]}}}}`;

  it('do what the example of docs/conversations.md says', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/conversations.md'), 'utf8');
    const [, example = ''] = /```yaml\n# state tools\n([\s\S]*?)```/.exec(page) ?? [];
    const { call, session } = await rig(example.replace(/^/gm, '  '));
    expect(await call('find', { words: 'apple' })).toEqual([{ id: 1, name: 'Red apple' }]);
    expect(await call('find', { words: 'red pear' })).toEqual([]);
    await call('put', { id: 1, count: 1 });
    expect(await call('put', { id: 1, count: 2 })).toBe('1 in the cart');
    await call('note', { address: 'Main St 1' });
    expect(session.world).toMatchObject({ cart: [{ id: 1, count: 2 }], delivery: 'Main St 1' });
  });

  it('get, set, list, insert and remove in a world that the session shares', async () => {
    const { call, session } = await rig(tools, {}, '{goods: [{name: Rye bread}, {name: Oat milk}]}');
    expect(await call('look', {})).toEqual([]);
    await call('put', { id: 1, n: 2 });
    await call('put', { id: 2, n: 1 });
    await call('put', { id: 1, n: 5 });
    expect(await call('take', { id: 2 })).toEqual([{ id: 1, n: 5 }]);
    await call('name', { id: 'a', name: 'Ann' });
    expect(await call('find', { q: 'bread RYE' })).toEqual([{ name: 'Rye bread' }]);
    expect(await call('find', { q: '' })).toEqual([]);
    expect(session.world).toEqual({
      goods: [{ name: 'Rye bread' }, { name: 'Oat milk' }],
      cart: [{ id: 1, n: 5 }],
      names: { a: 'Ann' },
    });
  });

  it('never let an argument reach a prototype', async () => {
    const { call } = await rig(tools);
    expect(await call('name', { id: 'constructor', name: 'x' })).toMatchObject({
      error: expect.stringContaining('leads nowhere'),
    });
    expect(await call('put', '{"__proto__": {"polluted": 1}}')).toMatchObject({
      error: expect.stringContaining('__proto__'),
    });
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  it('come back to the same world when recorded answers are replayed', async () => {
    const snapshot = await specificationOf(yaml(tools));
    const journal = memoryJournal();
    const worlds: ToolSession['world'][] = [];
    for (let run = 0; run < 2; run += 1) {
      const emulator = new ToolEmulator(snapshot, noPorts);
      const session = emulator.openSession('s', 'seed');
      const effects = new MemoryEffects({ model: () => Promise.reject(new Error('no model')), journal });
      for (let n = 1; n <= 3; n += 1)
        await emulator.run(
          session,
          { path: `1/agent/1/${n}`, name: 'put', arguments: `{"id":${n}}`, timeoutMs: 1000 },
          effects,
        );
      worlds.push(session.world);
    }
    expect(worlds[1]).toEqual(worlds[0]);
    expect(worlds[1]).toEqual({ cart: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  });
});

describe('arguments', () => {
  const tools = `  a:
    description: d
    parameters: {type: object, properties: {n: {type: integer, minimum: 1}}, required: [n], additionalProperties: false}
    backend: {static: ran}`;

  it('are checked against the schema before anything runs', async () => {
    const { call, effects } = await rig(tools);
    expect(await call('a', { n: 1 })).toBe('ran');
    expect(await call('a', { n: 'x' })).toEqual({ error: 'Tool execution failed: n must be integer' });
    expect(await call('a', { m: 1 })).toEqual({
      error:
        'Tool execution failed: arguments must have required property \'n\'; arguments must NOT have additional properties ("m")',
    });
    expect(effects.log).toHaveLength(1);
  });

  it.each([
    ['truncated JSON', '{"n": '],
    ['no text at all', ''],
    ['a list', '[1]'],
    ['a text', '"n"'],
    ['null', 'null'],
    ['two objects in a row', '{}{}'],
    ['a megabyte and more', `{"n": "${'x'.repeat(1_100_000)}"}`],
    ['20,000 levels', `{"n":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ])('that are %s are an error and are never run as {}', async (_, text) => {
    const { call, effects } = await rig(tools);
    expect(await call('a', text)).toMatchObject({
      error: expect.stringMatching(/^Tool execution failed: the arguments /),
    });
    expect(effects.log).toEqual([]);
  });

  it('lose execution_message on the way to the backend, and may have it although the schema does not know it', async () => {
    const { call, effects } = await rig(tools);
    expect(await call('a', { n: 1, execution_message: 'One moment.' })).toBe('ran');
    expect(effects.log[0]?.request).toEqual({ tool: 'a', session_id: 's1', arguments: { n: 1 } });
  });
});

describe('an http tool', () => {
  let server: Server;
  let url: string;
  let client: HttpClient;
  const clock = new VirtualClock();
  const seen: { path: string; key: string | undefined; body: Json }[] = [];
  const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    '/ok': (_, response) => response.end('{"found": 1}'),
    '/text': (_, response) => response.end('найдено'),
    '/flaky': (_, response) => {
      response.statusCode = seen.filter(({ path }) => path === '/flaky').length < 3 ? 503 : 200;
      response.end('"at last"');
    },
    '/bad': (_, response) => void response.writeHead(400).end('no'),
    '/redirect': (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    '/hang': () => void clock.step(),
    '/huge': (_, response) => response.end('x'.repeat(2_000_000)),
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const path = request.url ?? '';
        seen.push({ path, key: request.headers['idempotency-key'] as string | undefined, body: JSON.parse(text) });
        answers[path]?.(request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = createHttpClient({ clock, connectMs: 120_000 });
  });
  afterAll(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const tool = (path: string, to = url): string =>
    `  a: {description: d, parameters: ${object}, backend: {http: {url: "${to}${path}"}}}`;
  const ask = async (path: string, timeoutMs?: number, to?: string) =>
    (await rig(tool(path, to), { http: toolHttp(client) })).call('a', { x: 1 }, timeoutMs);

  it('posts {call, args} with the path as Idempotency-Key', async () => {
    expect(await ask('/ok')).toEqual({ found: 1 });
    expect(seen.at(-1)).toEqual({
      path: '/ok',
      key: '1/agent/1/1',
      body: { call: { session_id: 's1', tool: 'a', path: '1/agent/1/1', call_number: 1 }, args: { x: 1 } },
    });
  });

  it('keeps an answer that is not JSON as text', async () => {
    expect(await ask('/text')).toBe('найдено');
  });

  it('is asked again after 502, 503 and 504, with the same key', async () => {
    expect(await ask('/flaky')).toBe('at last');
    expect(new Set(seen.filter(({ path }) => path === '/flaky').map(({ key }) => key))).toEqual(
      new Set(['1/agent/1/1']),
    );
  });

  it('is not asked again after another error', async () => {
    expect(await ask('/bad')).toEqual({ error: 'Tool execution failed: its server answered 400' });
    expect(seen.filter(({ path }) => path === '/bad')).toHaveLength(1);
  });

  it('never follows a redirect', async () => {
    expect(await ask('/redirect')).toMatchObject({
      error: expect.stringContaining('a redirect, which is not followed'),
    });
  });

  it('never asks a metadata address', async () => {
    expect(await ask('/latest', undefined, 'http://169.254.169.254')).toMatchObject({
      error: expect.stringContaining('not allowed'),
    });
  });

  it('that hangs is given up within the time that is left', async () => {
    expect(await ask('/hang', 150)).toMatchObject({ error: expect.stringContaining('tried 3 times') });
  });

  it('that answers with megabytes is an error', async () => {
    expect(await ask('/huge')).toMatchObject({ error: expect.stringContaining('larger') });
  });
});

describe('a module tool', () => {
  let folder: string;
  let code: ClosableCodeRunner;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parlane-tools-'));
    await writeFile(
      join(folder, 'mine.ts'),
      `export const add = (args: {x: number}, context: {session_id: string; state: object}) => ({sum: args.x + 1, in: context.session_id, state: context.state});
export const later = async () => 'later';
export const throws = () => { throw new Error('no such order'); };
export const nothing = () => undefined;
export const buffer = () => Buffer.from('abc');
export const cycle = () => { const a: {self?: unknown} = {}; a.self = a; return a; };
export const huge = () => 'x'.repeat(50_000_000);
export const loops = () => { for (;;) {} };
export const exits = () => process.exit(3);
export const key = () => process.env.PARLANE_TEST_SECRET ?? 'no key';
`,
    );
    code = createCodeRunner({ env: scrubbedEnvironment({ ...process.env, PARLANE_TEST_SECRET: 'sk-1' }), cwd: folder });
  });
  afterAll(async () => {
    await code.close();
    await rm(folder, { recursive: true });
  });
  const ask = async (name: string, timeoutMs?: number) =>
    (
      await rig(
        `  a: {description: d, parameters: ${object}, backend: {module: "mine.ts#${name}"}}`,
        { code },
        '{open: 1}',
        folder,
      )
    ).call('a', { x: 1 }, timeoutMs);

  it("calls the user's function with arguments and context", async () => {
    expect(await ask('add')).toEqual({ sum: 2, in: 's1', state: { open: 1 } });
    expect(await ask('later')).toBe('later');
  });

  it.each([
    ['throws', 'no such order'],
    ['nothing', 'returned nothing'],
    ['buffer', 'bytes'],
    ['cycle', 'itself'],
    ['huge', '50000000 characters'],
    ['exits', ''],
    ['absent', ''],
  ])('that misbehaves (%s) gives an error result', async (name, message) => {
    expect(await ask(name)).toMatchObject({ error: expect.stringContaining(`Tool execution failed: `) });
    expect(JSON.stringify(await ask(name))).toContain(message);
  });

  it('that never returns is killed, and the next call works', async () => {
    expect(await ask('loops', 300)).toMatchObject({ error: expect.any(String) });
    expect(await ask('later')).toBe('later');
  });

  it('sees no keys', async () => {
    expect(await ask('key')).toBe('no key');
  });
});

describe('a replay tool', () => {
  it('gives what an earlier run recorded, and an error when it has nothing', async () => {
    const { call } = await rig(`  a: {description: d, parameters: ${object}, backend: {replay: run-1}}`, {
      recorded: async (source, { tool, number }) => (number === 1 ? `${source}/${tool}` : undefined),
    });
    expect(await call('a', {})).toBe('run-1/a');
    expect(await call('a', {})).toMatchObject({ error: expect.stringContaining('has no answer for call 2') });
  });

  it('counts calls with the same arguments, whatever was called between them', async () => {
    const { call } = await rig(`  a: {description: d, parameters: ${object}, backend: {replay: run-1}}`, {
      recorded: async (_, { args, number }) => `${JSON.stringify(args)} ${number}`,
    });
    const said = [await call('a', { n: 1 }), await call('a', { n: 2 }), await call('a', { n: 2 })];
    expect(said).toEqual(['{"n":1} 1', '{"n":2} 1', '{"n":2} 2']);
  });
});

describe('faults on demand', () => {
  const tools = (faults: string): string =>
    `  a: {description: d, parameters: ${object}, backend: {static: {ok: true}, faults: ${faults}}}`;

  it('fail at the rate asked for, the same way every time', async () => {
    const draw = async () => {
      const { call } = await rig(tools('{errorRate: 0.3}'));
      return Promise.all(Array.from({ length: 200 }, () => call('a', {})));
    };
    const first = await draw();
    expect(await draw()).toEqual(first);
    const failed = first.filter((result) => 'error' in Object(result)).length;
    expect(failed).toBeGreaterThan(35);
    expect(failed).toBeLessThan(85);
  });

  it('delay and malform', async () => {
    const waits: number[] = [];
    const { call } = await rig(tools('{delayMs: 700, malformedRate: 1}'), { wait: async (ms) => void waits.push(ms) });
    const result = await call('a', {});
    expect(typeof result).toBe('string');
    expect(waits).toEqual([700]);
  });
});
