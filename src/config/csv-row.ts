/** One row of a test table: plain columns are vars, columns that start with `__` say everything else. */
import type { Json } from '../domain/json.ts';
import type { SuiteTest } from '../domain/suite.ts';
import type { Assertion } from '../domain/verdict.ts';
import { cellAssertion, cellNumber } from './csv-cell.ts';

export interface RowFault {
  readonly column: string;
  readonly message: string;
}

interface Draft {
  vars: Record<string, Json>;
  asserts: Record<string, Json>[];
  options: Record<string, Json>;
  metadata: Record<string, Json>;
  thresholds: Map<number, number>;
  rest: { description?: string; providerOutput?: string; threshold?: number };
  metric?: string;
  faults: RowFault[];
}

const fixed: Readonly<Record<string, (draft: Draft, value: string) => void>> = {
  __prefix: (draft, value) => {
    draft.options['prefix'] = value;
  },
  __suffix: (draft, value) => {
    draft.options['suffix'] = value;
  },
  __metric: (draft, value) => {
    draft.metric = value;
  },
  __description: (draft, value) => {
    if (value !== '') draft.rest.description = value;
  },
  __providerOutput: (draft, value) => {
    if (value !== '') draft.rest.providerOutput = value;
  },
  __threshold: (draft, value) => {
    const threshold = cellNumber(value);
    if (threshold !== undefined) draft.rest.threshold = threshold;
  },
  // Without a key it names nothing.
  __metadata: () => undefined,
};

function metadataCell(draft: Draft, key: string, value: string): void {
  if (value.trim() === '') return;
  if (!key.endsWith('[]')) draft.metadata[key] = value;
  else draft.metadata[key.slice(0, -2)] = value.split(/(?<!\\),/).map((item) => item.trim().replace(/\\,/g, ','));
}

function configCell(draft: Draft, column: string, value: string): void {
  const fault = (message: string): void => void draft.faults.push({ column, message });
  const parts = column.slice('__config:'.length).split(':');
  const [target = '', key = ''] = parts;
  if (parts.length !== 2) return;
  const number = target === '__expected' ? 1 : Number(/^__expected(\d+)$/.exec(target)?.[1] ?? 0);
  const threshold = cellNumber(value);
  if (number < 1) fault(`"${target}" is no expected column; use __expected or __expected<N>`);
  else if (key !== 'threshold') fault(`"${key}" cannot be set here; only "threshold" can`);
  else if (threshold === undefined) fault(`"${value}" is no number`);
  else draft.thresholds.set(number - 1, threshold);
}

function cell(draft: Draft, column: string, value: string): void {
  const known = Object.hasOwn(fixed, column) ? fixed[column] : undefined;
  if (column.startsWith('__expected')) {
    if (value.trim() === '') return;
    try {
      draft.asserts.push({ ...cellAssertion(value.trim()) } as Record<string, Json>);
    } catch (error) {
      draft.faults.push({ column, message: error instanceof Error ? error.message : String(error) });
    }
  } else if (known !== undefined) known(draft, value);
  else if (column.startsWith('__metadata:')) metadataCell(draft, column.slice('__metadata:'.length), value);
  else if (column.startsWith('__config:')) configCell(draft, column, value);
  else draft.vars[column] = value;
}

/** The test that a row means, and what is wrong with its cells. */
export function rowTest(row: Readonly<Record<string, string>>): { test: SuiteTest; faults: readonly RowFault[] } {
  const draft: Draft = {
    vars: {},
    asserts: [],
    options: {},
    metadata: {},
    thresholds: new Map(),
    rest: {},
    faults: [],
  };
  for (const [name, value] of Object.entries(row)) cell(draft, name.trim(), value);
  for (const [at, assertion] of draft.asserts.entries()) {
    if (draft.metric !== undefined) assertion['metric'] = draft.metric;
    const threshold = draft.thresholds.get(at);
    if (threshold === undefined) continue;
    assertion['threshold'] = threshold;
    draft.metadata['threshold'] = threshold;
  }
  const test: SuiteTest = {
    vars: draft.vars,
    assert: draft.asserts as unknown as readonly Assertion[],
    options: draft.options,
    ...draft.rest,
    ...(Object.keys(draft.metadata).length > 0 ? { metadata: draft.metadata } : {}),
  };
  return { test, faults: draft.faults };
}
