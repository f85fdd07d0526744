/**
 * Kills real processes and counts what is lost: at every write of a 60-case run (before and after each commit), at random
 * instants from outside, and during resumes. `--quick` takes a tenth; `--instants=N` and `--seed=N` are for the curious.
 */
import { availableParallelism } from 'node:os';
import { conversationCrashes } from '../test/conversation/crash.ts';
import { type CrashPlan, type CrashReport, CrashRig, inParallel, type KillPoint } from '../test/support/crash-rig.ts';

const cases = 60;

const numberOf = (args: readonly string[], name: string, otherwise: number): number => {
  const found = args.find((arg) => arg.startsWith(`--${name}=`));
  return found === undefined ? otherwise : Number(found.split('=')[1]);
};

/** Numbers that a seed repeats. */
function* random(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    yield state / 2 ** 32;
  }
}

const everyWrite = (commits: number, serialize: CrashPlan['serialize']): CrashPlan[] =>
  Array.from({ length: commits }, (_, at) => at + 1).flatMap((commit) =>
    (['before', 'after'] as const).map((when): CrashPlan => ({ cases, serialize, kills: [{ commit, when }] })),
  );

function* randomInstants(count: number, longestMs: number, seed: number): Generator<CrashPlan> {
  const draw = random(seed);
  const next = (): number => draw.next().value ?? 0;
  for (let at = 0; at < count; at++) {
    const serialize = at % 2 === 0 ? 'global' : 'conversation';
    const kills: KillPoint[] = [{ afterMs: 150 + next() * longestMs }];
    if (at % 3 === 0)
      kills.push({ afterMs: 150 + next() * longestMs }, { commit: 1 + Math.floor(next() * 40), when: 'before' });
    yield { cases, serialize, kills };
  }
}

interface Counted {
  readonly plan: CrashPlan;
  readonly report: CrashReport;
}

const sum = (all: readonly Counted[], of: (report: CrashReport) => number): number =>
  all.reduce((total, { report }) => total + of(report), 0);

const isWhole = ({ lostRows, paidAgain, unmarked, sameTable, marked, inFlight }: CrashReport): boolean =>
  lostRows.length + paidAgain.length + unmarked.length === 0 && sameTable && marked <= inFlight;

const summary = (kind: string, all: readonly Counted[]) => ({
  kind,
  points: all.length,
  kills: sum(all, ({ killed }) => killed),
  lostRows: sum(all, ({ lostRows }) => lostRows.length),
  answersPaidAgain: sum(all, ({ paidAgain }) => paidAgain.length),
  unmarked: sum(all, ({ unmarked }) => unmarked.length),
  inFlight: sum(all, ({ inFlight }) => inFlight),
  markedMaybeAgain: sum(all, ({ marked }) => marked),
  differentTables: all.filter(({ report }) => !report.sameTable).length,
});

export const bench = {
  name: 'crash',
  async run({ json, args }: { readonly json: boolean; readonly args: readonly string[] }) {
    const quick = args.includes('--quick');
    const instants = numberOf(args, 'instants', quick ? 200 : 5_000);
    await using rig = await CrashRig.start();
    const from = performance.now();
    const commits = {
      global: await rig.baseline({ cases, serialize: 'global' }),
      conversation: await rig.baseline({ cases, serialize: 'conversation' }),
    };
    const longestMs = (performance.now() - from) / 2;
    const writes = [...everyWrite(commits.global, 'global'), ...everyWrite(commits.conversation, 'conversation')];
    const parts: [string, CrashPlan[]][] = [
      ['every write', quick ? writes.filter((_, at) => at % 10 === 0) : writes],
      ['random instants', [...randomInstants(instants, longestMs, numberOf(args, 'seed', 1))]],
    ];
    const counted: ReturnType<typeof summary>[] = [];
    for (const [kind, plans] of parts) {
      let done = 0;
      const jobs = plans.map((plan) => async (): Promise<Counted> => {
        const report = await rig.crash(plan);
        if (!isWhole(report)) console.error(`not whole: ${JSON.stringify({ plan, report })}`);
        if (!json && ++done % 100 === 0) console.error(`${kind}: ${done} of ${plans.length}`);
        return { plan, report };
      });
      counted.push(summary(kind, await inParallel(jobs, availableParallelism())));
    }
    const conversations = await conversationCrashes(numberOf(args, 'conversations', quick ? 30 : 500));
    const total = (name: 'kills' | 'lostRows' | 'answersPaidAgain' | 'unmarked' | 'differentTables'): number =>
      counted.reduce((all, one) => all + one[name], 0);
    const figures = {
      kills: total('kills'),
      lostRows: total('lostRows'),
      answersPaidAgain: total('answersPaidAgain'),
      unmarked: total('unmarked'),
      differentTables: total('differentTables'),
      conversationKills: conversations.kills,
      differentTranscripts: conversations.differentTranscripts,
      toolsCalledAgain: conversations.toolsCalledAgain,
      seconds: Math.round((performance.now() - from) / 1000),
    };
    return { name: 'crash', figures, cases: [...counted, conversations] };
  },
};
