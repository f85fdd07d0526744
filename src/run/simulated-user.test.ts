import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../domain/json.ts';
import { runEval } from './fixtures/eval-lab.ts';

const fixed = (...replies: string[]): JsonObject => ({ id: 'sim:instant', config: { replies } });
const person = (...replies: string[]): JsonObject => ({ id: 'sim:instant', label: 'person', config: { replies } });
const suite = (config: JsonObject, more: JsonObject = {}): JsonObject => ({
  providers: [fixed('Which size?', 'Ordered.', 'Anything else?')],
  prompts: ['You sell {{thing}}.'],
  defaultTest: { provider: { id: 'promptfoo:simulated-user', config } },
  tests: [{ vars: { thing: 'shoes', instructions: 'You want red shoes in size 42.' } }],
  ...more,
});
const user = person('Red shoes, please.', 'Size 42.', 'Thanks ###STOP###');

describe('a simulated user', () => {
  it('talks with the target until it says the stop mark; the conversation is the output', async () => {
    const { rows, steps } = await runEval(suite({ userProvider: user }));
    const [row] = rows;
    expect(row?.status).toBe('passed');
    expect(row?.output).toBe(
      'User: Red shoes, please.\n---\nAssistant: Which size?\n---\nUser: Size 42.\n---\nAssistant: Ordered.',
    );
    expect(row?.detail).toMatchObject({
      response: {
        metadata: {
          messages: [
            { role: 'user', content: 'Red shoes, please.' },
            {},
            {},
            { role: 'assistant', content: 'Ordered.' },
          ],
        },
      },
    });
    expect(steps.map(({ path }) => path)).toEqual([
      'turn/1/client',
      'turn/1/agent',
      'turn/2/client',
      'turn/2/agent',
      'turn/3/client',
    ]);
  });

  it('speaks to the target with the prompt as system message and the whole conversation', async () => {
    const { steps } = await runEval(suite({ userProvider: user }));
    const asked = steps.filter(({ path }) => path.endsWith('/agent')).map(({ request }) => request as JsonObject);
    const prompt = ((asked[1] as JsonObject)['request'] as JsonObject)['prompt'];
    expect(JSON.parse(String(prompt))).toEqual([
      { role: 'system', content: 'You sell shoes.' },
      { role: 'user', content: 'Red shoes, please.' },
      { role: 'assistant', content: 'Which size?' },
      { role: 'user', content: 'Size 42.' },
    ]);
    const told = JSON.stringify(steps[0]?.request);
    expect(told).toContain('You want red shoes in size 42.');
  });

  it('ends after maxTurns answers, ten unless told', async () => {
    const chatty = { id: 'sim:instant', config: { reply: 'More.' } };
    const two = await runEval(suite({ userProvider: chatty, maxTurns: 2 }));
    expect(String(two.rows[0]?.output).split('\n---\n')).toHaveLength(4);
    const ten = await runEval(suite({ userProvider: chatty }));
    expect(String(ten.rows[0]?.output).split('\n---\n')).toHaveLength(20);
  });

  it('goes on from messages that were said before, those of the test first; an open question is answered first', async () => {
    const before = [
      { role: 'user', content: 'Hello, {{thing}}?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'nobody', content: 'left out' },
    ];
    const first = await runEval(suite({ userProvider: person('###STOP###', '###STOP###'), initialMessages: before }));
    expect(first.rows[0]?.output).toBe('User: Hello, shoes?\n---\nAssistant: Yes.');
    const open = suite(
      { userProvider: { id: 'sim:instant', config: { reply: '###STOP###' } }, initialMessages: before },
      { tests: [{ vars: { thing: 'x', instructions: 'y', initialMessages: '[{"role":"user","content":"Open?"}]' } }] },
    );
    const second = await runEval(open);
    expect(second.rows[0]?.output).toBe('User: Open?\n---\nAssistant: Which size?');
    expect(second.steps.map(({ path }) => path)).toEqual(['turn/0/agent', 'turn/1/client']);
  });

  it('sends a target that keeps its own conversation only what is new, once it has named it', async () => {
    const target =
      'export default class { id() { return "t"; } async callApi(prompt, context) { return { output: JSON.stringify({ roles: JSON.parse(prompt).map((m) => m.role), known: context.vars.sessionId ?? null }), sessionId: "s-1", metadata: { sessionId: "s-1" } }; } }';
    const { rows } = await runEval(
      suite({ userProvider: user, stateful: true }, { providers: ['file://target.mjs'] }),
      { 'target.mjs': target },
    );
    expect(String(rows[0]?.output)).toContain('Assistant: {"roles":["system","user"],"known":null}');
    expect(String(rows[0]?.output)).toContain('Assistant: {"roles":["user"],"known":"s-1"}');
    expect(rows[0]?.detail).toMatchObject({ response: { metadata: { sessionId: 's-1' } } });
  });

  it('is played by a sim in front of a sim, so that it needs no key; checks and transforms see the conversation', async () => {
    const config = suite({ maxTurns: 3 }, { providers: ['sim:agent?latency=0ms'] });
    const { rows, steps } = await runEval({
      ...config,
      tests: [
        {
          vars: { thing: 'shoes', instructions: 'to buy red shoes' },
          assert: [
            { type: 'contains', value: 'User:' },
            { type: 'trace-span-count', value: { pattern: 'chat *', min: 3 } },
            { type: 'javascript', value: 'context.providerResponse.metadata.messages.length >= 2' },
          ],
        },
      ],
    });
    expect(rows[0]?.error).toBeUndefined();
    expect(rows[0]?.status).toBe('passed');
    expect(steps[0]?.request).toMatchObject({ provider: 'sim:client' });
  });

  it('makes the row an error when one side fails', async () => {
    const { rows } = await runEval(suite({ userProvider: user }, { providers: ['sim:instant?error=100%'] }));
    expect(rows[0]?.status).toBe('error');
  });

  it('talks to agents with tools and handoffs when its config has a specification', async () => {
    const scripted = (...replies: Json[]): string => JSON.stringify({ id: 'sim:instant', config: { replies } });
    const calls = (name: string, args: JsonObject): JsonObject => ({
      text: '',
      toolCalls: [{ name, arguments: args }],
    });
    const specification = {
      name: 'shop',
      version: '1',
      entry: 'front',
      agents: {
        front: {
          name: 'Front',
          prompt: 'You greet for {{thing}}.',
          model: scripted(calls('handoff_sales', { reason: 'buys' })),
          handoffs: { sales: 'the caller wants to buy shoes' },
        },
        sales: {
          name: 'Sales',
          prompt: 'You sell.',
          model: scripted(calls('find_shoe', { colour: 'red' }), 'We have S-42.', 'We have S-42.'),
          tools: ['find_shoe'],
        },
      },
      tools: {
        find_shoe: {
          description: 'finds shoes of a colour',
          parameters: { type: 'object', properties: { colour: { type: 'string' } } },
          backend: { static: { shoe: 'S-42' } },
        },
      },
    };
    const { rows } = await runEval(
      suite(
        { userProvider: fixed('I want to buy red shoes, please.', 'Bye.'), specification, maxTurns: 1 },
        {
          providers: ['sim:agent?latency=0ms'],
          tests: [
            {
              vars: { thing: 'shoes', instructions: 'buy' },
              assert: [
                { type: 'contains', value: 'User: I want to buy red shoes, please.' },
                { type: 'trajectory:tool-used', value: ['handoff_sales', 'find_shoe'] },
                { type: 'contains', value: 'We have S-42.' },
              ],
            },
          ],
        },
      ),
    );
    expect(rows[0]?.error?.message).toBeUndefined();
    expect(rows[0]?.output).toContain('S-42');
    expect(rows[0]?.status).toBe('passed');
    expect(rows[0]?.detail).toMatchObject({ response: { metadata: { sessionId: expect.any(String) } } });
  });
});
