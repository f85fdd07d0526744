import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import { isObject, type Json } from '../../domain/json.ts';
import { columnAt } from '../../reporters/column-label.ts';
import { conversationOf } from '../../reporters/conversation-view.ts';
import { plainStyle, styleFor } from '../../reporters/terminal/style.ts';
import { safeLines } from '../../reporters/terminal/text-width.ts';
import { transcriptLines } from '../../reporters/terminal/transcript.ts';
import type { StepRecord } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { type FoundCase, findCase } from '../find-case.ts';
import { storeOption, withStore } from '../open-project-store.ts';

interface ShowOptions {
  readonly store?: string;
  readonly run?: string;
  readonly unfold?: boolean;
  readonly raw?: boolean;
  readonly turn?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
}

function turnOf(text: string | undefined, { row, shown }: FoundCase): number | undefined {
  if (text === undefined) return undefined;
  const view = conversationOf(row);
  if (view === undefined)
    throw new ParlaneError('cli/no-turns', `Case #${shown} is not a conversation.`, 'Leave --turn out.');
  const turn = Number(text);
  if (Number.isInteger(turn) && turn >= 1 && turn <= view.turns) return turn;
  throw new ParlaneError(
    'cli/bad-turn',
    `"${text}" is not a turn of case #${shown}.`,
    view.turns === 0 ? 'It has none.' : `Its turns are 1 to ${view.turns}.`,
  );
}

/** What a model was asked, and whom; what surrounds it in a test is for providers that are programs. */
function askedLines(request: Json): string[] {
  const asked = isObject(request) ? request['request'] : undefined;
  if (!isObject(request) || !isObject(asked)) return ['-> ', JSON.stringify(request, null, 2)];
  const { context: _, repeatIndex: __, ...sent } = asked;
  return [`-> ${request['provider']} (${request['role']})`, JSON.stringify(sent, null, 2)];
}

/** The request and the answer of each step. The answer of a model is the body as received. */
function rawLines(steps: readonly StepRecord[]): string[] {
  return steps
    .filter(({ kind }) => kind !== 'clock' && kind !== 'random')
    .flatMap(({ path, send, kind, request, answer }) => {
      const value = answer?.value;
      const body = isObject(value) && 'raw' in value ? value['raw'] : value;
      const said = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
      const marks = [
        ...(send > 1 ? [`sent ${send} times`] : []),
        ...(isObject(value) && value['cached'] === true ? ['cached: nothing was sent'] : []),
      ];
      return [
        `== ${kind} ${path}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`,
        ...(request === undefined
          ? []
          : kind === 'model'
            ? askedLines(request)
            : ['-> ', JSON.stringify(request, null, 2)]),
        ...(answer === undefined ? ['<- no answer was seen'] : ['<- ', said]),
        '',
      ];
    })
    .flatMap(safeLines);
}

async function shownLines(found: FoundCase, options: ShowOptions, context: CliContext): Promise<string[]> {
  const { run, row } = found;
  if (options.raw === true) return rawLines(await run.steps(row.index));
  const turn = turnOf(options.turn, found);
  const column = columnAt(await run.columns(), row.column);
  return transcriptLines(row, {
    width: Math.max(40, context.terminal.columns),
    style: options.plain === true ? plainStyle : styleFor({ isTTY: context.terminal.isTTY, env: context.env }),
    called: found.shown,
    ...(column === undefined ? {} : { column }),
    ...(found.shown.includes('f') || found.unfinished !== undefined ? {} : { command: 'npx parlane' }),
    ...(found.unfinished === undefined ? {} : { unfinished: found.unfinished }),
    ...(options.unfold === true ? { unfold: true } : {}),
    ...(turn === undefined ? {} : { turn }),
  });
}

/** What becomes of a case that has not ended. */
function goOn({ run, unfinished }: FoundCase): string[] {
  if (unfinished === undefined) return [];
  return [
    unfinished === 'running'
      ? 'It is running; this is what its journal holds so far.'
      : `It has not ended; this is what its journal holds. Go on with it: npx parlane resume ${run.id}`,
  ];
}

async function show(name: string, options: ShowOptions, context: CliContext): Promise<void> {
  await withStore(context, options.store, async (store) => {
    const found = await findCase(store, name, options.run, { soFar: true });
    if (options.json === true) {
      const run = found.run.id;
      const state = found.unfinished === undefined ? {} : { unfinished: found.unfinished };
      const steps = options.raw === true ? { steps: await found.run.steps(found.row.index) } : {};
      context.print(JSON.stringify({ run, case: found.shown, ...state, row: found.row, ...steps }));
    } else context.print([...(await shownLines(found, options, context)), ...goOn(found)].join('\n'));
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('<case>', 'its number (7 or #7), its name, or a fork of it (18f1)')
    .option('--run <run>', 'of this run instead of the newest')
    .option('--unfold', 'tool calls with their whole arguments and results')
    .option('--raw', "every request as Parlane made it (before the provider's own form), every answer as received")
    .option('--turn <n>', 'only this turn')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane show 18\n  parlane show scenario/angry-client --unfold\n  parlane show 18f1 --turn 3 --run baseline\n',
    )
    .action((name: string, options: ShowOptions) => show(name, options, context));
}
