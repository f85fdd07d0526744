/** A prompt case from its template to its verdict: render, ask, grade. */
import type { PromptCase } from '../domain/case.ts';
import type { Effects } from '../domain/effects.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Reply } from '../domain/reply.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { CaseContext, CaseResult, CaseRunners } from './case-runner.ts';

/** Puts values into a prompt; `literal` names those that came from models and are never rendered themselves. */
export type RenderPrompt = (prompt: string, vars: JsonObject, literal: ReadonlySet<string>) => string | Promise<string>;

/** Judges an answer by the case's checks; its own calls go through the effects under `grade/`. */
export type GradePrompt = (subject: {
  readonly case: PromptCase;
  readonly prompt: string;
  readonly vars: JsonObject;
  readonly reply: Reply;
  readonly latencyMs: number;
  readonly effects: Effects;
}) => Promise<Verdict>;

export interface PromptRunnerParts {
  readonly render: RenderPrompt;
  readonly grade: GradePrompt;
}

const exchange = (prompt: string, output: Json): Json => ({ prompt, input: prompt, output });

function writesOf(one: PromptCase, prompt: string, output: Json): Pick<CaseResult, 'writes'> {
  const register =
    one.storeAs !== undefined && output !== '' && output !== null
      ? { register: { name: one.storeAs, value: output } }
      : {};
  const said = one.conversationKey === undefined ? {} : { exchange: exchange(prompt, output) };
  return Object.keys(register).length + Object.keys(said).length === 0 ? {} : { writes: { ...register, ...said } };
}

const statusOf = (verdict: Verdict): Pick<CaseResult, 'status' | 'error'> => {
  if (verdict.error !== undefined) return { status: 'error', error: { code: 'grading', message: verdict.error } };
  return { status: verdict.pass ? 'passed' : 'failed' };
};

export const promptRunner =
  ({ render, grade }: PromptRunnerParts): CaseRunners['prompt'] =>
  async (one: PromptCase, { effects, registers, conversation }: CaseContext): Promise<CaseResult> => {
    const vars: JsonObject = {
      ...one.vars,
      ...registers,
      ...(one.conversationKey === undefined ? {} : { _conversation: conversation }),
    };
    const prompt = await render(one.prompt, vars, new Set([...Object.keys(registers), '_conversation']));
    const { value, times } = await effects.model('prompt', {
      role: 'prompt',
      provider: one.column.provider,
      request: { kind: 'chat', prompt, ...(one.repeat === 0 ? {} : { repeatIndex: one.repeat }) },
    });
    if (value.kind === 'failure') {
      const error = { code: value.code, message: value.message };
      return { status: 'error', score: null, output: null, error, detail: { prompt }, ...writesOf(one, prompt, '') };
    }
    const verdict = await grade({ case: one, prompt, vars, reply: value, latencyMs: times.latencyMs, effects });
    return {
      ...statusOf(verdict),
      score: verdict.error === undefined ? verdict.score : null,
      output: value.output,
      verdict,
      detail: { prompt },
      ...writesOf(one, prompt, value.output),
    };
  };
