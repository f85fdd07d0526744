import { RE2JS } from 're2js';
import { isObject, type Json } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import { playAgent } from './agent.ts';
import { playClient } from './client.ts';
import { type Dialogue, readDialogue, type SimAnswer, say } from './dialogue.ts';
import { asksForJudgement, playJudge } from './judge.ts';
import { answerPrompt, instanceOf, wantedSchema } from './prompt-answer.ts';
import type { SimOptions, SimRole } from './sim-options.ts';

type ChatRequest = Extract<ModelRequest, { kind: 'chat' }>;

/** A reply as a config writes it: text, or `{text, toolCalls: [{name, arguments}]}`. */
function programmed(reply: Json | undefined): SimAnswer | undefined {
  if (typeof reply === 'string') return say(reply);
  if (!isObject(reply)) return undefined;
  const calls = Array.isArray(reply['toolCalls']) ? reply['toolCalls'].filter(isObject) : [];
  return {
    text: typeof reply['text'] === 'string' ? reply['text'] : '',
    calls: calls.map((call) => ({
      name: String(call['name'] ?? ''),
      arguments: typeof call['arguments'] === 'string' ? call['arguments'] : JSON.stringify(call['arguments'] ?? {}),
    })),
  };
}

/** `/pattern/` or plain words, ignoring case. */
function says(when: string, text: string): boolean {
  const pattern = /^\/(.+)\/$/.exec(when)?.[1];
  if (pattern !== undefined) return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).matcher(text).find();
  return text.toLowerCase().includes(when.toLowerCase());
}

/** What the config decided beforehand: a fixed reply, the turn's reply, or the first rule that fits. */
function decided(options: SimOptions, dialogue: Dialogue): SimAnswer | undefined {
  if (options.reply !== undefined) return say(options.reply);
  const turn = dialogue.said.length + new Set(dialogue.calls.map((call) => call.arguments + call.name)).size;
  const scripted = programmed(options.replies[turn]);
  if (scripted) return scripted;
  const text = dialogue.lastHeard === '' ? dialogue.system : dialogue.lastHeard;
  const rule = options.rules.find(({ when }) => typeof when === 'string' && says(when, text));
  return programmed(rule?.['reply'] ?? undefined);
}

function roleOf(options: SimOptions, dialogue: Dialogue): Exclude<SimRole, 'auto'> | 'prompt' {
  if (options.role !== 'auto') return options.role;
  if (dialogue.tools.length > 0) return 'agent';
  if (asksForJudgement(`${dialogue.system}\n${dialogue.lastHeard}`)) return 'judge';
  return dialogue.system !== '' && (dialogue.said.length > 0 || dialogue.heard.length === 0) ? 'agent' : 'prompt';
}

/** What a simulated model answers: the same for the same request, options and seed. */
export function answerOf(request: ChatRequest, options: SimOptions): SimAnswer {
  const dialogue = readDialogue(request);
  const fixed = decided(options, dialogue);
  if (fixed) return fixed;
  const role = roleOf(options, dialogue);
  const seed = request.seed ?? options.seed;
  const schema = role === 'prompt' || role === 'agent' ? wantedSchema(request) : undefined;
  if (schema !== undefined) return say(JSON.stringify(schema === null ? { answer: 'simulated' } : instanceOf(schema)));
  switch (role) {
    case 'judge':
      return playJudge(dialogue, seed);
    case 'client':
      return playClient(dialogue);
    case 'echo':
      return say(dialogue.lastHeard);
    case 'agent':
      return playAgent(dialogue);
    case 'prompt':
      return answerPrompt(dialogue, seed);
  }
}
