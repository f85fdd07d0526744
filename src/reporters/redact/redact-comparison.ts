import type { CaseChange, CaseSide, Comparison } from '../../compare/compare-runs.ts';
import type { Json } from '../../domain/json.ts';
import { type RedactOptions, redactJson, redactText, withoutContents } from './redact-row.ts';

const textless = (side: CaseSide): CaseSide => ({
  ...side,
  excerpt: withoutContents(side.excerpt),
  reason: withoutContents(side.reason),
});
const textlessChange = (change: CaseChange): CaseChange => ({
  ...change,
  before: textless(change.before),
  after: textless(change.after),
});

/** What redaction does to a comparison; verdicts, names and numbers stay. */
export function redactComparison(comparison: Comparison, { secrets, contents }: RedactOptions): Comparison {
  const { better, worse, unscored } = comparison;
  const kept =
    contents !== true
      ? comparison
      : {
          ...comparison,
          better: better.map(textlessChange),
          worse: worse.map(textlessChange),
          unscored: unscored.map(textlessChange),
        };
  // A comparison is plain data: it is also the JSON form.
  return redactJson(kept as unknown as Json, redactText(secrets)) as unknown as Comparison;
}
