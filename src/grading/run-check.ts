import type { Effects } from '../domain/effects.ts';
import type { Json } from '../domain/json.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { baseTypeOf } from './assertion-table.ts';
import { readyValue } from './assertion-value.ts';
import { asText, broken, type CheckInput, type CheckOutcome, CheckProblem } from './check.ts';
import { transformContext } from './code-context.ts';
import type { GradeOptions } from './grade.ts';
import { Grader } from './graders/grader.ts';
import { checks } from './registry.ts';
import { speakersOf } from './speakers.ts';
import type { Subject } from './subject.ts';
import { spokenText } from './transcript.ts';
import { runTransform } from './user-code.ts';

interface Work {
  readonly assertion: Assertion;
  /** Its position among all checks of the case, sets laid flat. */
  readonly index: number;
  readonly subject: Subject;
  readonly effects: Effects;
  readonly options: GradeOptions;
}

async function outputFor({ assertion, subject, effects, options }: Work): Promise<Json> {
  if (typeof assertion.transform !== 'string' || assertion.transform === '') return subject.output;
  const { ports, baseDir } = options;
  const outcome = await runTransform(assertion.transform, subject.output, transformContext(subject), {
    baseDir,
    code: ports.code,
    signal: effects.signal,
  });
  if (outcome.kind !== 'returned') throw new CheckProblem(`The transform failed: ${outcome.message}`);
  if (outcome.value === undefined || outcome.value === null || Number.isNaN(outcome.value)) {
    throw new CheckProblem(`The transform returned ${String(outcome.value)}`);
  }
  return outcome.value as Json;
}

function textFor({ assertion, subject }: Work, output: Json): string {
  if (subject.conversation === undefined || assertion.transform !== undefined) return asText(output);
  return spokenText(subject.conversation, speakersOf(assertion, 'agent'));
}

function graderFor({ assertion, index, subject, effects, options }: Work): Grader {
  return new Grader({
    index,
    effects,
    candidates: [assertion.provider, options.grading?.provider],
    defaults: options.defaultGraders ?? {},
    vars: subject.vars,
    ...(options.repeatIndex === undefined ? {} : { repeatIndex: options.repeatIndex }),
  });
}

async function inputFor(work: Work, grader: Grader): Promise<CheckInput | CheckOutcome> {
  const { assertion, subject, effects, options } = work;
  const type = baseTypeOf(assertion.type);
  const output = await outputFor(work);
  const { ports, baseDir, grading } = options;
  const ready = await readyValue(type, assertion, { subject, output, ports, baseDir, signal: effects.signal });
  if (ready.failed !== undefined) return { pass: false, score: 0, reason: ready.failed };
  const rubricPrompt = assertion.rubricPrompt ?? grading?.rubricPrompt;
  return {
    assertion,
    type,
    inverse: assertion.type.startsWith('not-'),
    subject,
    output,
    text: textFor(work, output),
    value: ready.value,
    ...(ready.scripted === undefined ? {} : { scripted: ready.scripted }),
    effects,
    ports,
    grader,
    rubric: {
      ...(rubricPrompt === undefined ? {} : { rubricPrompt }),
      ...(grading?.factuality === undefined ? {} : { factuality: grading.factuality }),
    },
    baseDir,
  };
}

async function outcomeOf(work: Work, grader: Grader): Promise<CheckOutcome> {
  try {
    const input = await inputFor(work, grader);
    if ('pass' in input) return input;
    const check = checks[input.type];
    if (check === undefined) return broken(`Unknown assertion type "${work.assertion.type}"`);
    const outcome = await check(input);
    return Number.isFinite(outcome.score) ? outcome : broken(`The check gave the score ${outcome.score}`);
  } catch (error) {
    // An abort is the run's business, not a verdict.
    if (work.effects.signal.aborted) throw error;
    return broken(error instanceof Error ? error.message : String(error));
  }
}

/** One assertion's verdict. Whatever goes wrong in it is its own `error`; only an abort is thrown. */
export async function runCheck(work: Work): Promise<Verdict> {
  const grader = graderFor(work);
  const outcome = await outcomeOf(work, grader);
  const isMetricOnly = work.assertion.weight === 0 && outcome.error === undefined;
  return {
    assertion: work.assertion,
    ...outcome,
    ...(isMetricOnly ? { pass: true } : {}),
    ...(grader.usage === undefined ? {} : { usage: grader.usage }),
  };
}
