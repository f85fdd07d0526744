import { rm } from 'node:fs/promises';
import { Argument, type Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import { counted, money, percent } from '../../domain/measures.ts';
import { singleLine } from '../../reporters/terminal/text-width.ts';
import { findRun } from '../../run/run-plan.ts';
import { settingsOf } from '../../run/run-settings.ts';
import type { RowCounts, RunChange, RunRecord, Spent, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { nearestTo } from '../nearest-word.ts';
import { chooseRun, openExistingStore, refuseUnclearName, storeOption, withStore } from '../open-project-store.ts';
import { reportPath } from '../report-path.ts';
import { processOf } from '../run-process.ts';

interface RunsOptions {
  readonly store?: string;
  readonly limit: string;
  readonly json?: boolean;
}

interface Listed {
  readonly record: RunRecord;
  readonly counts: RowCounts;
  readonly spent: Spent;
  readonly isFork: boolean;
}

async function list(store: Store, limit: number): Promise<Listed[]> {
  const forks = new Set((await store.forks()).map(({ run }) => run));
  const records = (await store.runs()).slice(0, limit);
  return Promise.all(
    records.map(async (record) => {
      const run = await findRun(store, record.id);
      return { record, counts: await run.rowCounts(), spent: await run.spent(), isFork: forks.has(record.id) };
    }),
  );
}

const progress = ({ record, counts }: Listed): string => {
  const done = counts.total - counts.provisional;
  const status = shownStatus(record);
  if (status === 'complete') return `${done} done`;
  const of = `${record.planned === undefined ? done : `${done} of ${record.planned}`} done`;
  if (status === 'running') return of;
  return `${of}, ${processOf(record) === 'gone' ? 'its process is gone' : (record.stopReason ?? 'stopped')}`;
};

/** What was written down last may be old: a process may have gone on with the run since, or be gone. */
function shownStatus(record: RunRecord): 'running' | 'stopped' | 'complete' {
  const process = processOf(record);
  if (process === 'working') return 'running';
  if (record.status === 'complete') return 'complete';
  return record.status === 'suspended' || process === 'gone' ? 'stopped' : 'running';
}

/** Which run its cases come from, in words: such a run may hold a few of a plan. */
function origin({ options }: RunRecord): string {
  const { from, again = 'run' } = settingsOf(options);
  return from === undefined ? '' : `${again} of ${from}`;
}

/** Marks and names, in words. */
const remarks = ({ record, isFork }: Listed): string =>
  [
    record.label === undefined ? '' : `"${singleLine(record.label)}"`,
    record.baseline === true ? 'baseline' : '',
    record.pinned === true ? 'pinned' : '',
    isFork ? 'fork' : '',
    origin(record),
    singleLine(record.name),
  ]
    .filter((part) => part !== '')
    .join('  ');

const line = (one: Listed): string => {
  const { record, spent } = one;
  const counts = one.counts.final;
  const when = new Date(record.createdAt).toISOString().slice(0, 16).replace('T', ' ');
  const answered = counts.passed + counts.failed;
  const rate = answered === 0 ? '' : ` (${percent(counts.passed / answered)})`;
  const verdict = `${counts.passed} passed${rate}, ${counts.failed} failed, ${counted(counts.error, 'error')}${
    counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  }${counts.aborted > 0 ? `, ${counts.aborted} cancelled` : ''}`;
  const cost = spent.unknown > 0 ? 'price unknown' : money(spent.usdMicros);
  return `${record.id}  ${when}  ${shownStatus(record).padEnd(8)}  ${progress(one)}; ${verdict}  ${cost}  ${remarks(one)}`.trimEnd();
};

function originJson({ options }: RunRecord): object {
  const { from, again } = settingsOf(options);
  return from === undefined ? {} : { from, ...(again === undefined ? {} : { again }) };
}

const asJson = ({ record, counts, spent, isFork }: Listed): object => ({
  id: record.id,
  name: record.name,
  ...(record.label === undefined ? {} : { label: record.label }),
  ...(record.baseline === true ? { baseline: true } : {}),
  ...(record.pinned === true ? { pinned: true } : {}),
  ...(isFork ? { fork: true } : {}),
  ...originJson(record),
  createdAt: new Date(record.createdAt).toISOString(),
  status: record.status,
  ...(record.stopReason === undefined ? {} : { stopReason: record.stopReason }),
  planned: record.planned ?? null,
  rows: counts,
  costUsdMicros: spent.unknown > 0 ? null : spent.usdMicros,
});

async function listRuns(options: RunsOptions, context: CliContext): Promise<void> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1)
    throw new ParlaneError('cli/bad-limit', `"${options.limit}" is not a number of runs.`, 'Write --limit 20.');
  const store = await openExistingStore(context, options.store);
  const runs = store === undefined ? [] : await list(store, limit);
  await store?.close();
  if (options.json === true) context.print(JSON.stringify({ runs: runs.map(asJson) }));
  else context.print(runs.length === 0 ? 'No runs yet.' : runs.map(line).join('\n'));
}

const change = async (store: Store, record: RunRecord, what: RunChange): Promise<void> =>
  (await findRun(store, record.id)).change(what);

function refuseDelete(record: RunRecord): void {
  if (record.pinned === true || record.baseline === true) {
    const mark = record.pinned === true ? 'pinned' : 'the baseline';
    const cure =
      record.pinned === true ? `First: parlane runs unpin ${record.id}.` : 'Make another one the baseline first.';
    throw new ParlaneError('run/kept', `The run ${record.id} is ${mark} and is not deleted.`, cure, { run: record.id });
  }
  const { owner } = record;
  if (owner === undefined || processOf(record) !== 'working') return;
  throw new ParlaneError(
    'run/busy',
    `Process ${owner.pid} on ${owner.host} is working on the run ${record.id}.`,
    'Stop it first.',
    { run: record.id },
  );
}

/** Everything that was forked from a run, forks of forks included. */
async function forksOf(store: Store, id: RunId): Promise<Set<RunId>> {
  const all = await store.forks();
  const found = new Set<RunId>();
  const add = (parent: RunId): void => {
    for (const { run } of all.filter((fork) => fork.parent === parent && !found.has(fork.run))) {
      found.add(run);
      add(run);
    }
  };
  add(id);
  return found;
}

interface Verb {
  readonly words: string;
  readonly takesText?: true;
  /** Does it, and says what was done. */
  readonly act: (store: Store, record: RunRecord, text: string) => Promise<string>;
}

const verbs: Readonly<Record<string, Verb>> = {
  baseline: {
    words: 'later runs are compared with it',
    async act(store, record) {
      for (const other of await store.runs())
        if (other.baseline === true) await change(store, other, { baseline: null });
      await change(store, record, { baseline: true });
      return `${record.id} is the baseline.`;
    },
  },
  name: {
    words: 'gives it a name that other commands understand',
    takesText: true,
    async act(store, record, text) {
      const all = await store.runs();
      refuseUnclearName(text, all);
      const other = all.find(({ label, id }) => label === text && id !== record.id);
      if (other !== undefined)
        throw new ParlaneError(
          'run/name-taken',
          `The run ${other.id} is already called "${text}".`,
          'Choose another name.',
        );
      await change(store, record, { label: text });
      return `${record.id} is now called "${singleLine(text)}".`;
    },
  },
  pin: {
    words: 'keeps it from being deleted',
    async act(store, record) {
      await change(store, record, { pinned: true });
      return `${record.id} is pinned.`;
    },
  },
  unpin: {
    words: 'lets it be deleted again',
    async act(store, record) {
      await change(store, record, { pinned: null });
      return `${record.id} is no longer pinned.`;
    },
  },
  delete: {
    words: 'takes it away with its journal, its transcripts and its forks',
    async act(store, record) {
      const forks = await forksOf(store, record.id);
      const all = [record, ...(await store.runs()).filter(({ id }) => forks.has(id))];
      for (const one of all) refuseDelete(one);
      for (const { id } of all) {
        await store.deleteRun(id);
        await rm(reportPath(store, id), { force: true });
      }
      const also = forks.size === 0 ? '' : `, and ${counted(forks.size, 'fork')} of it`;
      return `${record.id} is deleted${also}.`;
    },
  },
};

function verbOf(name: string, run: string | undefined, text: string | undefined): Verb {
  const verb = verbs[name];
  if (verb === undefined) {
    const near = nearestTo(name, Object.keys(verbs));
    const cure = near === undefined ? `Known: ${Object.keys(verbs).join(', ')}.` : `Did you mean "${near}"?`;
    throw new ParlaneError('cli/unknown-verb', `"parlane runs" cannot "${name}".`, cure);
  }
  if (run === undefined)
    throw new ParlaneError(
      'cli/no-run',
      `Which run to ${name}?`,
      `For example: parlane runs ${name} latest${verb.takesText ? ' my-name' : ''}.`,
    );
  if (verb.takesText && (text === undefined || text.trim() === ''))
    throw new ParlaneError('cli/no-name', 'Which name?', `For example: parlane runs name ${run} before-the-rewrite.`);
  if (!verb.takesText && text !== undefined)
    throw new ParlaneError('cli/too-many', `"runs ${name}" takes one run, and "${text}" is too much.`, '');
  return verb;
}

interface Asked {
  readonly verb: string | undefined;
  readonly run: string | undefined;
  readonly text: string | undefined;
}

async function runs(asked: Asked, options: RunsOptions, context: CliContext): Promise<void> {
  if (asked.verb === undefined || asked.verb === 'list') return listRuns(options, context);
  const verb = verbOf(asked.verb, asked.run, asked.text);
  await withStore(context, options.store, async (store) => {
    const record = await chooseRun(store, asked.run);
    const said = await verb.act(store, record, asked.text ?? '');
    context.print(options.json === true ? JSON.stringify({ run: record.id, did: asked.verb }) : said);
  });
}

/** The verbs for shell completion; a wrong one is told by us, with the nearest. */
const completed = (argument: Argument): Argument =>
  Object.assign(argument, { argChoices: ['list', ...Object.keys(verbs)] });

export function define(command: Command, context: CliContext): void {
  const kinds = Object.entries(verbs).map(([name, { words }]) => `  ${name.padEnd(9)} ${words}`);
  command
    .addArgument(completed(new Argument('[verb]', 'list (unless told), or what to do with one run')))
    .argument('[run]', 'its id, the beginning or end of it, its name, "latest" or "baseline"')
    .argument('[name]', 'for "name"')
    .option(...storeOption)
    .option('--limit <n>', 'the newest n', '20')
    .addHelpText(
      'before',
      'Examples:\n  parlane runs\n  parlane runs baseline latest\n  parlane runs name 20261115-2031 before-the-rewrite\n',
    )
    .addHelpText('after', `\nVerbs:\n${kinds.join('\n')}`)
    .action((verb: string | undefined, run: string | undefined, text: string | undefined, options: RunsOptions) =>
      runs({ verb, run, text }, options, context),
    );
}
