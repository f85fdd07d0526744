/** What can be asked of a run while it works, from its own keys or from another terminal. */
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseIndex, caseNumber, type LaneKey } from '../domain/ids.ts';
import type { LaneLimits, LaneSnapshot } from '../domain/lane.ts';
import { laneName, lanesMeant } from '../domain/lane-name.ts';
import { type RowStatus, shownStatus } from '../domain/row.ts';
import type { CallPlace } from '../lanes/scheduler.ts';
import type { Lanes } from './lanes.ts';

export type ControlRequest =
  | { readonly do: 'status' }
  | { readonly do: 'pause' | 'resume'; readonly lane?: string }
  | { readonly do: 'limit'; readonly lane: string; readonly limits: LaneLimits }
  | { readonly do: 'cancel' | 'why'; readonly case: number };

/** What is kept of a case: whether the run has it, and how it ended. */
export interface CaseState {
  readonly known: boolean;
  readonly ended?: RowStatus;
}

/** Why a case is not done yet: where its calls are and what their lanes wait for. */
export interface WhyAnswer {
  readonly case: number;
  /** How it ended, when it has. */
  readonly ended?: RowStatus;
  readonly calls: readonly (CallPlace & { readonly snapshot: LaneSnapshot | undefined })[];
}

export class RunControl {
  private readonly lanes: Lanes;
  private readonly about: Readonly<Record<string, unknown>>;
  private readonly stateOf: (index: CaseIndex) => Promise<CaseState>;

  /** `about` is told with the status; `stateOf` looks a case up, where cases are kept. */
  constructor(
    lanes: Lanes,
    about: Readonly<Record<string, unknown>> = {},
    stateOf: (index: CaseIndex) => Promise<CaseState> = async () => ({ known: true }),
  ) {
    this.lanes = lanes;
    this.about = about;
    this.stateOf = stateOf;
  }

  /** One request of a person, checked: it may come from anywhere on this machine that this user has. */
  async answer(request: unknown): Promise<unknown> {
    const asked = checked(request);
    switch (asked.do) {
      case 'status':
        return { ...this.about, lanes: this.lanes.snapshot() };
      case 'pause':
      case 'resume':
        return { lanes: this.each(asked.lane, (lane) => this.lanes[asked.do as 'pause' | 'resume'](lane)) };
      case 'limit':
        return { lanes: this.each(asked.lane, (lane) => this.lanes.retune(lane, asked.limits)), limits: asked.limits };
      case 'cancel':
        return this.cancel(indexOf(asked.case));
      case 'why':
        return this.why(indexOf(asked.case));
    }
  }

  /** How a case stands; one that the run does not have is refused. */
  private async look(index: CaseIndex): Promise<CaseState> {
    const state = await this.stateOf(index);
    if (state.known) return state;
    throw new ParlaneError('ctl/no-case', `The run has no case #${caseNumber(index)}.`, 'See "parlane ctl".');
  }

  private async cancel(index: CaseIndex): Promise<{ case: number }> {
    const { ended } = await this.look(index);
    if (ended !== undefined)
      throw new ParlaneError(
        'ctl/ended',
        `Case #${caseNumber(index)} has ended (${shownStatus({ status: ended })}).`,
        'Nothing is to cancel.',
      );
    this.lanes.cancelCase(index);
    return { case: caseNumber(index) };
  }

  private async why(index: CaseIndex): Promise<WhyAnswer> {
    const { ended } = await this.look(index);
    if (ended !== undefined) return { case: caseNumber(index), ended, calls: [] };
    const snapshots = new Map(this.lanes.snapshot().map((lane) => [lane.key, lane]));
    const calls = this.lanes.where(index).map((call) => ({ ...call, snapshot: snapshots.get(call.lane) }));
    return { case: caseNumber(index), calls };
  }

  /** Acts on the lanes that a name means: all of them, the one of that key, or those that contain it. */
  private each(name: string | undefined, act: (lane: LaneKey) => void): LaneKey[] {
    const keys = this.lanes.snapshot().map(({ key }) => key);
    const meant = name === undefined ? keys : lanesMeant(keys, name);
    if (meant.length === 0)
      throw new ParlaneError('ctl/no-lane', `There is no lane "${name}".`, `Lanes: ${keys.map(laneName).join(', ')}.`);
    for (const lane of meant) act(lane);
    return meant;
  }
}

const indexOf = (shown: number): CaseIndex => caseIndex(shown - 1);

const verbs = ['status', 'pause', 'resume', 'limit', 'cancel', 'why'];

function checked(request: unknown): ControlRequest {
  const asked = Object(request) as Record<string, unknown>;
  if (!verbs.includes(String(asked['do']))) {
    throw new ParlaneError('ctl/bad-request', 'This is not a request.', `Ask for one of: ${verbs.join(', ')}.`);
  }
  if ((asked['do'] === 'cancel' || asked['do'] === 'why') && !Number.isInteger(asked['case'])) {
    throw new ParlaneError(
      'ctl/bad-request',
      `"${String(asked['case'])}" is not the number of a case.`,
      'Write it as the view shows it: 512.',
    );
  }
  return asked as unknown as ControlRequest;
}
