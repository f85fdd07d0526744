import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import { counted } from '../../domain/measures.ts';
import type { Row } from '../../domain/row.ts';
import { conversationOf } from '../../reporters/conversation-view.ts';
import { failureReason } from '../../reporters/failure-reason.ts';
import { cut, singleLine } from '../../reporters/terminal/text-width.ts';
import { forkCase } from '../../run/fork-case.ts';
import { type ConversationFork, prepareFork } from '../../run/fork-conversation.ts';
import { rowsOf } from '../../run/read-run.ts';
import { findRun, type RunOutcome } from '../../run/run-plan.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-code.ts';
import { type FoundCase, findCase, forkTries } from '../find-case.ts';
import { wholeNumber } from '../number-option.ts';
import { storeOption, withStore } from '../open-project-store.ts';
import { storeFolder } from '../open-run-project.ts';
import { hostOn, listenForStop, playWatched, showFor } from '../play-watched.ts';
import { readNamedFile } from '../read-scenarios.ts';
import { type Revived, reviveToPlay } from '../revivers.ts';
import { suggested } from '../suggested-command.ts';
import { outcomeJson } from '../tell-run.ts';

interface ForkOptions {
  readonly after: string;
  readonly run?: string;
  readonly agentPrompt?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly clientSays?: string;
  readonly tries?: string;
  readonly store?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
}

/** A try beside the conversation it comes from. */
interface Shown {
  readonly id: string;
  readonly row: Row;
}

const defaultTries = 3;

/** The last turn that stays. What comes after it must be something. */
function lastKept(text: string, { row, shown }: FoundCase): number {
  const view = conversationOf(row);
  if (view === undefined)
    throw new ParlaneError('fork/not-a-conversation', `Case #${shown} is not a conversation.`, 'Run it again: retry.');
  // A conversation that broke may go on where it broke; one that came to its end has nothing after its last turn.
  const most = row.status === 'error' || row.status === 'aborted' ? view.turns : view.turns - 1;
  const after = Number(text);
  if (/^\d+$/.test(text) && after <= most) return after;
  throw new ParlaneError(
    'fork/after',
    `--after is "${text}", and case #${shown} has ${counted(view.turns, 'turn')}.`,
    `Write the number of the last turn to keep: 0 to ${Math.max(0, most)}.`,
    { after: text, turns: view.turns },
  );
}

async function refuseUnrecorded({ run, row, shown }: FoundCase, after: number): Promise<void> {
  const { answers } = await run.history(row.index);
  if (after === 0 || [...answers.keys()].some((path) => /^\d+\//.test(path))) return;
  throw new ParlaneError(
    'fork/not-recorded',
    `Case #${shown} of ${run.id} was brought in or only scored here: its calls are not recorded.`,
    'Fork it in the run in which it was played, or keep nothing: --after 0.',
  );
}

async function changesOf(
  options: ForkOptions,
  context: CliContext,
): Promise<Omit<ConversationFork, 'index' | 'after'>> {
  const { agent, model, clientSays, agentPrompt } = options;
  if (agent !== undefined && agentPrompt === undefined)
    throw new ParlaneError(
      'fork/no-prompt',
      `--agent ${agent} says whose prompt is another one, and none is given.`,
      'Give it with --agent-prompt <file>, or leave --agent out.',
    );
  return {
    tries: wholeNumber('--tries', options.tries) ?? defaultTries,
    ...(agentPrompt === undefined ? {} : { agentPrompt: await readNamedFile(context, agentPrompt) }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(clientSays === undefined ? {} : { clientSays }),
  };
}

function line({ id, row }: Shown, columns: number): string {
  const turns = counted(conversationOf(row)?.turns ?? 0, 'turn');
  const why = row.status === 'passed' ? '' : singleLine(failureReason(row));
  return cut(`  ${id.padEnd(8)} ${row.status.padEnd(8)} ${turns.padEnd(9)} ${why}`.trimEnd(), columns);
}

/** What playing again gave, and what there was before. */
function verdict(tries: readonly Shown[], original: Row): string {
  const count = (status: Row['status']): number => tries.filter(({ row }) => row.status === status).length;
  const errors = tries.length - count('passed') - count('failed');
  const others = errors === 0 ? '' : `, ${counted(errors, 'error')}`;
  const was = original.status === 'passed' ? 1 : 0;
  return `${counted(tries.length, 'try', 'tries')}: ${count('passed')} passed, ${count('failed')} failed${others}.   Was: ${was} of 1.`;
}

/** What is about to happen, once nothing can refuse it any more. */
function announcement({ after, tries, agentPrompt, model, clientSays }: ConversationFork): string {
  const kept = after === 0 ? 'Kept nothing.' : `Kept ${after === 1 ? 'turn 1' : `turns 1-${after}`} (recorded).`;
  const changed = [agentPrompt, model, clientSays].some((change) => change !== undefined);
  const unchanged = changed
    ? ''
    : ` Nothing is changed, so ${tries === 1 ? 'this try shows' : `these ${tries} tries show`} what chance does.`;
  return `${kept} Playing on from turn ${after + 1} ...${unchanged}`;
}

async function play(
  store: Store,
  found: FoundCase,
  fork: ConversationFork,
  options: ForkOptions,
  context: CliContext,
): Promise<RunOutcome> {
  const original = await found.run.case(found.row.index);
  if (original === undefined) throw new Error(`the case of row ${found.row.index} is gone`);
  const record = await found.run.record();
  const { request, snapshot } = prepareFork(found.run.id, original, await found.run.snapshot(), fork);
  using interrupt = listenForStop(context);
  const revived: Revived = await reviveToPlay(record, snapshot, context, store);
  try {
    if (fork.model !== undefined) await revived.provider(fork.model);
    if (options.json !== true) context.complain(announcement(fork));
    const watched = {
      title: `fork of #${found.shown}`,
      store,
      folder: storeFolder(context, options.store),
      show: showFor(options),
    };
    const { result } = await playWatched(context, watched, interrupt, (stage) =>
      forkCase(request, hostOn(stage, store, revived)),
    );
    return result;
  } finally {
    await revived.close();
  }
}

async function triesOf(store: Store, { run, row, shown }: FoundCase, outcome: RunOutcome): Promise<Shown[]> {
  const all = await forkTries(store, run.id, row.index);
  const tries: Shown[] = [];
  for await (const one of rowsOf(await findRun(store, outcome.run))) {
    const at = all.findIndex((known) => known.run === outcome.run && known.index === one.index);
    tries.push({ id: `${shown}f${at + 1}`, row: one });
  }
  return tries;
}

async function fork(name: string, options: ForkOptions, context: CliContext): Promise<void> {
  await withStore(context, options.store, async (store) => {
    const found = await findCase(store, name, options.run);
    const after = lastKept(options.after, found);
    await refuseUnrecorded(found, after);
    const changes = await changesOf(options, context);
    const outcome = await play(store, found, { ...changes, index: found.row.index, after }, options, context);
    context.exit(exitCodeOf(outcome));
    const tries = await triesOf(store, found, outcome);
    if (options.json === true) {
      const { run, row, shown } = found;
      const told = tries.map(({ id, row: one }) => ({ id, status: one.status, row: one }));
      const of = { run: run.id, case: shown, status: row.status, after };
      context.print(JSON.stringify({ ...outcomeJson(outcome), of, tries: told }));
      return;
    }
    const first = tries[0]?.id ?? found.shown;
    const where = options.run === undefined ? '' : ` --run ${options.run}`;
    const shown = [{ id: found.shown, row: found.row }, ...tries].map((one) => line(one, context.terminal.columns));
    const folder = storeFolder(context, options.store);
    const more = outcome.complete
      ? suggested(`show ${first}${where}`, folder, context.cwd)
      : `Continue: ${suggested(`resume ${outcome.run}`, folder, context.cwd)}`;
    context.print(`${shown.join('\n')}\n${verdict(tries, found.row)}   ${more}`);
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('<case>', 'its number (7 or #7), its name, or a fork of it (18f1)')
    .requiredOption('--after <turn>', 'the last turn that stays as recorded; 0 keeps none')
    .option('--run <run>', 'of this run instead of the newest')
    .option('--agent-prompt <file>', 'another prompt for the agent')
    .option('--agent <name>', 'whose prompt it is (default: the one who speaks first)')
    .option('--model <id>', 'another model for the agents')
    .option('--client-says <text>', 'what the client says in the next turn')
    .option('--tries <n>', `how often it is played on (default: ${defaultTries})`)
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane fork 18 --after 2 --agent-prompt prompts/refund-v2.md\n  parlane fork 18 --after 0 --model sim:agent --tries 5\n  parlane fork 18f1 --after 1 --client-says "I want to speak to a manager."\n',
    )
    .action((name: string, options: ForkOptions) => fork(name, options, context));
}
