import type { Column } from '../domain/case.ts';
import { laneLabel } from './lane-label.ts';
import type { EndedCase, LiveState } from './terminal/live-state.ts';
import { singleLine } from './terminal/text-width.ts';

/** A prompt from a file is labelled by its whole path, of which the last part tells it apart. */
const folders = /^(?:file:\/\/)?(?:[A-Za-z]:)?[/\\](?:[^/\\:]+[/\\])*/;

/** What was tested, for people: the provider as the config calls it, and the prompt where there are several. */
const columnLabel = ({ provider, prompt }: Pick<Column, 'provider' | 'prompt'>, severalPrompts: boolean): string =>
  singleLine(severalPrompts ? `${provider}, ${prompt.replace(folders, '')}` : provider).trim();

const hasSeveralPrompts = (columns: readonly Column[]): boolean =>
  new Set(columns.map(({ prompt }) => prompt)).size > 1;

/** The column at a position of the table. */
export function columnAt(columns: readonly Column[], position: number): string | undefined {
  const column = columns.find((one) => one.position === position);
  return column === undefined ? undefined : columnLabel(column, hasSeveralPrompts(columns));
}

/** What a case that ended has tested; of runs that do not tell their columns, the lane it called last. */
export function testedBy(
  { columns }: Pick<LiveState, 'columns'>,
  { column, lane }: Pick<EndedCase, 'column' | 'lane'>,
  labels: Readonly<Record<string, string>>,
): string {
  return columnAt([...columns.values()], column) ?? (lane === undefined ? '' : laneLabel(lane, labels));
}
