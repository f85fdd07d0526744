import { describe, expect, it } from 'vitest';
import { importOpenAi, importTauBench } from './import-tau-bench.ts';
import { replayResult, spokenAndDone } from './replay-result.ts';
import { resultValidator } from './result-schema.ts';

const call = (id: string, name: string, args: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});
const tool = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, name: 'x', content });

const trajectory = [
  { role: 'system', content: 'Policy.' },
  { role: 'user', content: 'Hi, 你好!' },
  { role: 'assistant', content: 'Which one?' },
  { role: 'user', content: 'The first.' },
  { role: 'assistant', content: null, tool_calls: [call('same', 'look', { n: 1 })] },
  tool('same', '{"a": "first"}'),
  {
    role: 'assistant',
    content: 'And one more.',
    tool_calls: [call('same', 'look', { n: 2 }), call('same', 'count', {})],
  },
  tool('same', 'plain text'),
  tool('same', '"12"'),
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'Thanks! ###STOP###' },
];
const file = JSON.stringify([
  { task_id: 7, trial: 0, reward: 1, info: { task: { instruction: 'Want the first.' } }, traj: trajectory },
  { task_id: 7, trial: 1, reward: 0, info: {}, traj: trajectory.slice(0, 6) },
]);

describe('imported tau-bench trajectories', () => {
  it('become results of the contract, with calls and results paired by order although an id repeats', () => {
    const { conversations, problems } = importTauBench('t.json', file, 0);
    expect(problems).toEqual([]);
    const [first] = conversations;
    expect(first).toMatchObject({
      name: 'task-7',
      repeat: 0,
      reward: 1,
      result: {
        status: 'completed',
        termination_reason: 'end_marker',
        total_turns: 3,
        variables: { goal: 'Want the first.' },
      },
    });
    expect(first?.result.conversation_history.map(({ turn, speaker, content }) => [turn, speaker, content])).toEqual([
      [1, 'client', 'Hi, 你好!'],
      [1, 'agent_agent', 'Which one?'],
      [2, 'client', 'The first.'],
      [2, 'agent_agent', 'And one more.\nDone.'],
      [3, 'client', 'Thanks! ###STOP###'],
    ]);
    expect(first?.result.conversation_history[3]?.tool_results).toEqual([{ a: 'first' }, 'plain text', '12']);
    const faultsOf = resultValidator();
    for (const { result } of conversations) expect(faultsOf(result)).toEqual([]);
  });

  it('replay offline to the same words, calls and results', async () => {
    for (const { result } of importTauBench('t.json', file, 0).conversations) {
      expect(spokenAndDone(await replayResult(result))).toEqual(spokenAndDone(result));
    }
  });

  it('that are broken are told by place', () => {
    expect(importTauBench('t.json', '{', 0).problems).toHaveLength(1);
    expect(importTauBench('t.json', '{}', 0).problems).toHaveLength(1);
    expect(importTauBench('t.json', '[{"traj": []}, 3, {}]', 0).problems.map(({ message }) => message)).toEqual([
      'item 2 has no "traj"',
      'item 3 has no "traj"',
    ]);
  });
});

describe('imported OpenAI logs', () => {
  const lines = [
    JSON.stringify({ name: 'refund', success: true, messages: trajectory }),
    '',
    JSON.stringify(trajectory.slice(2)),
    JSON.stringify({
      name: 'refund',
      reward: 0,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Parts.' }] }],
    }),
  ];

  it('are one conversation a line, as a list or as an object with messages; equal names are repeats', () => {
    const { conversations, problems } = importOpenAi('log.jsonl', lines.join('\n'), 0);
    expect(problems).toEqual([]);
    expect(conversations.map(({ name, repeat, reward }) => [name, repeat, reward])).toEqual([
      ['refund', 0, 1],
      ['line-3', 0, null],
      ['refund', 1, 0],
    ]);
    expect(conversations[1]?.result.conversation_history[0]).toMatchObject({ turn: 1, speaker: 'agent_agent' });
    expect(conversations[2]?.result.conversation_history[0]?.content).toBe('Parts.');
  });

  it('tell every broken line with its number', () => {
    const { conversations, problems } = importOpenAi('log.jsonl', [...lines, '{', '{"a": 1}'].join('\n'), 0);
    expect(conversations).toHaveLength(3);
    expect(problems.map(({ line }) => line)).toEqual([5, 6]);
  });
});
