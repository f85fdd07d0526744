import type { CodeRunner } from '../domain/code-runner.ts';
import { evaluateFormula, FormulaProblem } from './arithmetic.ts';
import { codeInFile, fileReference } from './user-code.ts';

/** A metric made of others: a formula over their names, or a function in a file. */
export interface DerivedMetric {
  readonly name: string;
  readonly value: string;
}

export interface DerivedOptions {
  readonly code: CodeRunner;
  readonly baseDir: string;
  readonly signal: AbortSignal;
}

export interface DerivedResult {
  readonly scores: Readonly<Record<string, number>>;
  /** What could not be computed, one sentence each; such a metric is 0. */
  readonly problems: readonly string[];
}

async function computed(
  metric: DerivedMetric,
  scores: Record<string, number>,
  options: DerivedOptions,
): Promise<number> {
  if (!metric.value.startsWith('file://')) return evaluateFormula(metric.value, scores);
  const file = fileReference(metric.value, options.baseDir);
  const { language } = file;
  if (language === undefined) throw new FormulaProblem(`${metric.value} is not code`);
  const call = { code: codeInFile({ ...file, language }, 'get_metric'), args: [{ ...scores }] };
  const outcome = await options.code.run(call, { signal: options.signal });
  if (outcome.kind !== 'returned') throw new FormulaProblem(outcome.message);
  return Number(outcome.value);
}

/**
 * Adds derived metrics to the named scores of a column, in their order, so that later ones may use earlier ones.
 * `__count` is the number of rows they were summed over.
 */
export async function deriveMetrics(
  namedScores: Readonly<Record<string, number>>,
  count: number,
  metrics: readonly DerivedMetric[],
  options: DerivedOptions,
): Promise<DerivedResult> {
  const known: Record<string, number> = { ...namedScores, __count: count };
  const scores: Record<string, number> = { ...namedScores };
  const problems: string[] = [];
  for (const metric of metrics) {
    scores[metric.name] ??= 0;
    try {
      const value = await computed(metric, known, options);
      if (!Number.isFinite(value)) throw new FormulaProblem(`it is ${value}`);
      scores[metric.name] = value;
      known[metric.name] = value;
    } catch (error) {
      problems.push(`Derived metric "${metric.name}": ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { scores, problems };
}
