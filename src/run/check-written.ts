/**
 * What is wrong with tests as they stand in files, each at its place: assertions that could not be checked, files that
 * are not there. Costs nothing and sends nothing.
 */
import type { ConfigFiles } from '../config/config-files.ts';
import { absolute, fileReference } from '../config/file-reference.ts';
import type { WrittenTest } from '../config/written-test.ts';
import { isObject, type Json } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import type { Assertion } from '../domain/verdict.ts';
import { baseTypeOf } from '../grading/assertion-table.ts';
import { checkAssertions } from '../grading/check-assertions.ts';
import { isCodeText, isTemplate, transformFault } from '../grading/check-code.ts';
import { canonical } from '../plan/case-key.ts';

type Path = readonly PropertyKey[];

export interface CheckedFiles {
  readonly files: ConfigFiles;
  /** Where relative paths of tests start. */
  readonly folder: string;
}

/** A written assertion and the way to it inside its test. */
interface WrittenAssertion {
  readonly assertion: Assertion;
  readonly path: Path;
  readonly written: WrittenTest;
}

function assertionsOf(written: WrittenTest): WrittenAssertion[] {
  const inside = (list: unknown, path: Path): WrittenAssertion[] =>
    (Array.isArray(list) ? list : []).flatMap((entry: Json, at) => {
      if (!isObject(entry) || '$ref' in entry) return [];
      const place = [...path, at];
      if (entry['type'] === 'assert-set') return inside(entry['assert'], [...place, 'assert']);
      return [{ assertion: entry as unknown as Assertion, path: place, written }];
    });
  return inside(written.test['assert'], ['assert']);
}

/** Everything wrong with the tests. */
export async function writtenProblems(tests: readonly WrittenTest[], around: CheckedFiles): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const written of tests) {
    for (const one of assertionsOf(written)) problems.push(...assertionProblems(one));
    for (const { path, reference } of references(written)) {
      if (await isThere(reference, around)) continue;
      problems.push(written.at(path, `there is no file ${fileReference(reference).path}`, `paths start at the config`));
    }
    problems.push(...transformProblems(written));
  }
  return problems;
}

const assertionProblems = ({ assertion, path, written }: WrittenAssertion): Problem[] =>
  checkAssertions([assertion]).map(({ kind, part = kind === 'unknown-type' ? 'type' : '', message, hint }) =>
    written.at([...path, part], message, hint),
  );

function transformProblems(written: WrittenTest): Problem[] {
  const { options } = written.test;
  return ['transform', 'postprocess', 'transformVars'].flatMap((key) => {
    const code = isObject(options) ? options[key] : undefined;
    if (!isCodeText(code)) return [];
    const fault = transformFault(code);
    return fault === undefined ? [] : [written.at(['options', key], `not valid JavaScript: ${fault}`)];
  });
}

/** The files that a test names in its vars and its assertions' values. */
function references(written: WrittenTest): { readonly path: Path; readonly reference: string }[] {
  const { vars } = written.test;
  const values: (readonly [Path, Json | undefined])[] = [
    ...Object.entries(isObject(vars) ? vars : {}).map(([name, value]) => [['vars', name], value] as const),
    ...assertionsOf(written).map(({ assertion, path }) => [[...path, 'value'], assertion.value] as const),
  ];
  return values.flatMap(([path, value]) => {
    if (!Array.isArray(value)) return isReference(value) ? [{ path, reference: value }] : [];
    return value.flatMap((item: Json, at) => (isReference(item) ? [{ path: [...path, at], reference: item }] : []));
  });
}

const isReference = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('file://') && !isTemplate(value);

async function isThere(reference: string, { files, folder }: CheckedFiles): Promise<boolean> {
  const { path } = fileReference(reference);
  return (await files.kind(absolute(path, folder))) !== undefined || (await files.glob(path, folder)).length > 0;
}

/** Cached answers took no time: told before rows that measure it become errors. */
export const latencyWarnings = (tests: readonly WrittenTest[]): Problem[] =>
  tests.flatMap((written) => {
    const found = assertionsOf(written).find(({ assertion }) => baseTypeOf(String(assertion.type)) === 'latency');
    if (found === undefined) return [];
    const message =
      'an answer from the cache has no latency: with the cache on, this row is an error from the second eval on';
    const hint = 'run it with --no-cache, or set evaluateOptions: {cache: false}';
    return [{ ...written.at([...found.path, 'type'], message, hint), severity: 'warning' as const }];
  });

/** Where an assertion stands; undefined when no file has it, as when code made it. */
export function assertionPlace(
  tests: readonly WrittenTest[],
  assertion: Assertion,
): ((message: string, hint?: string) => Problem) | undefined {
  const wanted = JSON.stringify(canonical(assertion as unknown as Json));
  const all = tests.flatMap(assertionsOf);
  const found =
    all.find((one) => JSON.stringify(canonical(one.assertion as unknown as Json)) === wanted) ??
    all.find((one) => one.assertion.type === assertion.type);
  return found && ((message, hint) => found.written.at(found.path, message, hint));
}
