import type { Effects } from '../domain/effects.ts';
import type { Json } from '../domain/json.ts';
import type { Verdict } from '../domain/verdict.ts';
import { readGradingResult } from './code-verdict.ts';
import type { GradeOptions } from './grade.ts';
import { codeInFile, fileReference } from './user-code.ts';

/**
 * Lets the config author's function have the last word: it gets the named scores and the verdicts of all checks and
 * returns `{pass, score, reason}`. A function that throws or returns something else fails the case; one that hangs or
 * crashes is an error of the check. A case that is an error already stays one.
 */
export async function applyScoring(verdict: Verdict, effects: Effects, options: GradeOptions): Promise<Verdict> {
  const { scoringFunction = '', baseDir, ports, threshold } = options;
  if (verdict.error !== undefined) return verdict;
  const failed = (why: string): Verdict => ({
    ...verdict,
    pass: false,
    score: 0,
    reason: `The scoring function failed: ${why}`,
  });
  const file = fileReference(scoringFunction, baseDir);
  const { language } = file;
  if (!scoringFunction.startsWith('file://') || language === undefined) {
    return failed(`${scoringFunction} is not file://<name>.js or .py`);
  }
  const context = { threshold, componentResults: verdict.componentResults, tokensUsed: verdict.usage };
  const outcome = await ports.code.run(
    {
      code: codeInFile({ ...file, language }, 'get_score'),
      args: [{ ...verdict.namedScores }, JSON.parse(JSON.stringify(context)) as Json],
    },
    { signal: effects.signal },
  );
  if (outcome.kind === 'threw') return failed(outcome.message);
  if (outcome.kind === 'broke') return { ...failed(outcome.message), error: outcome.message };
  const result = readGradingResult(outcome.value);
  if (result === undefined) return failed('it must return {pass, score, reason}');
  if (!Number.isFinite(result.score)) return failed(`it returned the score ${result.score}`);
  return { ...verdict, ...result };
}
