/**
 * A run that somebody watches: the view, the socket that `ctl` speaks to and Ctrl-C, opened before the first call and
 * closed after the last, whatever is played: a plan, a resume, a fork, an eval, a batch.
 */
import { ParlaneError } from '../domain/errors.ts';
import type { Forecast } from '../domain/forecast.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { serveControl } from '../platform/control-socket.ts';
import { type Interrupt, listenForInterrupt } from '../platform/interrupt.ts';
import { isAlive, thisProcess } from '../platform/process-identity.ts';
import type { RunObserver } from '../reporters/observer.ts';
import type { ExpectedWork } from '../reporters/terminal/time-left.ts';
import { Lanes } from '../run/lanes.ts';
import type { RunHost } from '../run/run-plan.ts';
import type { Store } from '../store/store.ts';
import { type CliContext, clockOf } from './cli-context.ts';
import { suggested } from './suggested-command.ts';
import { type Watch, watchRun } from './watch-run.ts';
import { controlOf } from './watched-control.ts';

export interface WatchedOptions {
  readonly title: string;
  readonly store: Store;
  /** Where the store is; `ctl` finds the run there. Absent: nothing is kept, so nobody can ask. */
  readonly folder?: string;
  readonly show: 'view' | 'plain' | 'events' | 'nothing';
  readonly forecast?: Forecast;
  /** What there is to do, for the time that is left. */
  readonly expected?: ExpectedWork;
  /** Further observers, told to finish with the view. */
  readonly reporters?: readonly RunObserver[];
}

/** What a run that is watched must be given. */
export interface Stage extends Required<Pick<RunHost, 'clock' | 'signal' | 'owner' | 'ownerAlive'>> {
  readonly observers: readonly ((event: RunEvent) => void)[];
  /** Tells the view and `ctl` which lanes the run has. */
  onLanes(lanes: Lanes): void;
  /** Says something to people beside the view: what is written into a live view would tear it. */
  say(text: string): void;
}

/** How a command that answers with one JSON object is watched: not at all then. */
export const showFor = ({ json, plain }: { json?: boolean; plain?: boolean }): WatchedOptions['show'] =>
  json === true ? 'nothing' : plain === true ? 'plain' : 'view';

/** Ctrl-C of a command that may be showing a live view. */
export interface StopListener extends Interrupt {
  /**
   * Who tells people from now on that the run is stopping: what is written into a live view would tear it; and what goes
   * on with the run, for those who end it at once.
   */
  tellBy(say: (text: string) => void, goOn?: () => string | undefined): void;
}

/** Asked to stop by a person, or because nobody reads any more what is printed: the run saves itself either way. */
export function listenForStop(context: CliContext): StopListener {
  let say = context.complain;
  let goOn: () => string | undefined = () => undefined;
  const endAtOnce = (): void => {
    const command = goOn();
    if (command !== undefined) context.complain(`Ended at once; what is recorded is kept. Go on with: ${command}`);
  };
  const interrupt = listenForInterrupt(() => say('Stopping: nothing new starts. Once more to end at once.'), endAtOnce);
  const { unread } = context;
  return {
    ...interrupt,
    signal: unread === undefined ? interrupt.signal : AbortSignal.any([interrupt.signal, unread]),
    tellBy: (next, resume = () => undefined) => {
      say = next;
      goOn = resume;
    },
  };
}

/** What `runPlan`, `resumeRun` and `forkCase` work with, on a stage. */
export const hostOn = (
  stage: Stage,
  store: Store,
  parts: Pick<RunHost, 'provider' | 'lanes' | 'runners' | 'cache'>,
): RunHost => ({
  provider: parts.provider,
  runners: parts.runners,
  ...(parts.cache === undefined ? {} : { cache: parts.cache }),
  store,
  clock: stage.clock,
  lanes: (options) => {
    const lanes = parts.lanes(options);
    if (lanes instanceof Lanes) stage.onLanes(lanes);
    return lanes;
  },
  observers: stage.observers,
  signal: stage.signal,
  owner: stage.owner,
  ownerAlive: stage.ownerAlive,
});

export async function playWatched<T>(
  context: CliContext,
  options: WatchedOptions,
  interrupt: StopListener,
  play: (stage: Stage) => Promise<T>,
): Promise<{ result: T; watch: Watch }> {
  const clock = clockOf(context);
  let lanes: Lanes | undefined;
  const watch = watchRun(context, {
    title: options.title,
    show: options.show,
    store: options.store,
    ...(options.forecast === undefined ? {} : { forecast: options.forecast }),
    ...(options.expected === undefined ? {} : { expected: options.expected }),
    lanes: () => lanes,
    onStop: () => process.kill(process.pid, 'SIGINT'),
  });
  interrupt.tellBy(watch.say, () =>
    watch.state.run === '' || options.folder === undefined
      ? undefined
      : suggested(`resume ${watch.state.run}`, options.folder, context.cwd),
  );
  const tellUnread = (): void => watch.say('Nobody reads the output any more. Stopping: nothing new starts.');
  context.unread?.addEventListener('abort', tellUnread);
  const control =
    options.folder === undefined
      ? undefined
      : await serveControl(options.folder, (request) => {
          if (lanes !== undefined) return controlOf(lanes, options, watch.state).answer(request);
          throw new ParlaneError('ctl/not-yet', 'The run has not begun yet.', 'Ask again in a moment.');
        });
  const reporters = options.reporters ?? [];
  try {
    const result = await play({
      observers: [watch.observe, ...reporters.map((one) => (event: RunEvent) => one.observe(event))],
      onLanes: (made) => {
        lanes = made;
      },
      say: watch.say,
      clock,
      signal: interrupt.signal,
      owner: thisProcess(),
      ownerAlive: (owner) => isAlive(owner, clock.now()),
    });
    return { result, watch };
  } finally {
    context.unread?.removeEventListener('abort', tellUnread);
    control?.close();
    await watch.finish();
    interrupt.tellBy(context.complain);
    for (const one of reporters) await one.finish();
  }
}
