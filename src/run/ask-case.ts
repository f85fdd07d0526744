/** One case's answer: given in the test, asked of its provider, or won in a conversation with a simulated user. */
import type { ConversationPorts } from '../conversation/setup.ts';
import type { PromptCase } from '../domain/case.ts';
import type { Effects } from '../domain/effects.ts';
import type { EvalDetail } from '../domain/eval-case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Outcome, Reply } from '../domain/reply.ts';
import { graderName, resolveGrader } from '../grading/graders/grader-provider.ts';
import type { Trace } from '../grading/subject.ts';
import type { EvalTemplates } from '../prompts/eval-template.ts';
import { tracedEffects } from './case-trace.ts';
import type { Recordings } from './recorded-tools.ts';
import type { RenderedCase } from './render-case.ts';
import { simulateAgents } from './simulate-agents.ts';
import { simulateUser } from './simulated-user.ts';
import { agentsOf, simulatedUserOf } from './simulated-user-config.ts';
import type { Asking } from './simulation.ts';

export interface AskParts {
  readonly folder: string;
  readonly templates: EvalTemplates;
  /** For conversations with tools. */
  readonly conversations: ConversationPorts;
  /** For tools that answer as an earlier run recorded. */
  readonly recordings?: Recordings;
  /** Who plays people when nobody is named: the model that grades by default, when there is a key for it. */
  readonly person?: string;
}

export interface Answered {
  readonly answer: Outcome;
  readonly latencyMs?: number;
  readonly trace?: Trace;
}

/** Options of a test that steer the evaluator; everything else in them belongs to the provider. */
const evaluatorOptions = new Set([
  ...['prefix', 'suffix', 'transform', 'postprocess', 'transformVars', 'storeOutputAs', 'runSerially', 'repeat'],
  ...['disableVarExpansion', 'disableConversationVar', 'disableDefaultAsserts', 'provider', 'rubricPrompt'],
  'factuality',
]);

const givenReply = (output: Json): Reply => ({
  kind: 'reply',
  text: typeof output === 'string' ? output : JSON.stringify(output),
  output,
  toolCalls: [],
  finishReason: 'stop',
  status: 200,
  raw: '',
  flags: [],
  cached: false,
});

/** Who plays the person: whom the config names, else who grades, else the target itself; before a sim: another sim. */
function personFor(config: JsonObject, planned: PromptCase, detail: EvalDetail, parts: AskParts): string {
  const named = config['userProvider'] ?? config['provider'] ?? detail.test.options?.['provider'];
  if (named !== undefined && named !== null) return resolveGrader('text', [named], {});
  if (/^sim(?::|$)/.test(detail.provider.id)) return 'sim:client';
  return parts.person ?? planned.column.provider;
}

const portsFor = ({ name, repeat, column }: PromptCase, { conversations, recordings }: AskParts): ConversationPorts =>
  recordings === undefined
    ? conversations
    : { ...conversations, recorded: recordings.answersFor({ name, repeat, column: column.position }) };

/** Asks for the answer of a case. `settings` says what the provider was set to, for the cache. */
export async function askCase(
  planned: PromptCase,
  detail: EvalDetail,
  rendered: RenderedCase,
  given: Effects,
  settings: string,
  parts: AskParts,
): Promise<Answered> {
  const { test } = detail;
  const { effects, trace } = tracedEffects(given);
  if (test.providerOutput !== undefined) return { answer: givenReply(test.providerOutput), trace: trace(planned.key) };
  const params = Object.fromEntries(
    Object.entries(rendered.promptConfig).filter(([key]) => !evaluatorOptions.has(key)),
  );
  const context = { vars: rendered.vars, test: test as unknown as Json, settings };
  const repeat = planned.repeat === 0 ? {} : { repeatIndex: planned.repeat };
  const config = simulatedUserOf(test.provider);
  if (config !== undefined) {
    const person = personFor(config, planned, detail, parts);
    const { templates, folder } = parts;
    const render: Asking['render'] = (template, vars) => templates.render(template, vars);
    const asking = { config, target: planned.column.provider, person, name: planned.name, rendered, params, context };
    const whole: Asking = { ...asking, repeat, effects, render };
    const simulated =
      agentsOf(test.provider) === undefined
        ? await simulateUser(whole)
        : await simulateAgents(whole, portsFor(planned, parts), folder);
    if (simulated.kind === 'failure') return { answer: simulated };
    const { reply, latencyMs } = simulated;
    return { answer: reply, latencyMs, trace: simulated.trace ?? trace(planned.key) };
  }
  const provider = test.provider === undefined ? planned.column.provider : graderName(test.provider);
  const { value, times } = await effects.model('prompt', {
    role: 'prompt',
    provider,
    request: {
      kind: 'chat',
      prompt: rendered.prompt,
      params,
      ...(detail.seed === undefined ? {} : { seed: detail.seed }),
      context,
      ...repeat,
    },
  });
  return { answer: value, latencyMs: times.latencyMs, trace: trace(planned.key) };
}
