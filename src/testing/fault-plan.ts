import { ParlaneError } from '../domain/errors.ts';
import type { EpochMillis } from '../domain/ids.ts';
import { type Random, seededRandom } from '../domain/seeded-random.ts';
import type { FaultAct } from './fault-act.ts';
import { faultKinds } from './fault-kinds.ts';

/** A kind by number, or with its variant: `24`, `'24/308'`, `{ kind: 24, variant: '308' }`. */
export type FaultSpec = number | string | { readonly kind: number; readonly variant?: string };

/** Which requests meet which faults: by position, always, or by rate with a seed. Looked at in this order. */
export interface FaultPlan {
  /** The n-th request (from 1) of this rule. `0` as fault means: none. */
  readonly script?: Readonly<Record<number, FaultSpec>>;
  readonly always?: FaultSpec;
  /** Share of requests that meet one of `kinds`, 0 to 1. */
  readonly rate?: number;
  /** Without it: every kind that a plain request can meet and that does not hang. */
  readonly kinds?: readonly FaultSpec[];
  readonly seed?: number;
}

export interface PlannedFault {
  readonly name: string;
  readonly act: FaultAct;
}

type Maker = (now: EpochMillis) => PlannedFault;

function makerOf(spec: FaultSpec): Maker {
  const [number, named] = typeof spec === 'object' ? [spec.kind, spec.variant] : String(spec).split('/');
  const kind = faultKinds.find((candidate) => candidate.kind === Number(number));
  const variant = named ?? Object.keys(kind?.variants ?? {})[0] ?? '';
  const make = kind?.variants[variant];
  if (kind === undefined || make === undefined) {
    const known = kind ? `Variants of ${kind.kind}: ${Object.keys(kind.variants).join(', ')}.` : 'Kinds are 1 to 64.';
    throw new ParlaneError('testing/unknown-fault', `There is no fault ${JSON.stringify(spec)}.`, known);
  }
  const name = `${kind.kind}/${variant}`;
  const act = make(0);
  if (act.do === 'unreachable') {
    throw new ParlaneError('testing/not-a-server-fault', `Fault ${name} never reaches a server:`, `${act.how}.`);
  }
  return (now) => ({ name, act: make(now) });
}

const hanging = new Set([34, 35, 36, 39, 46, 47, 48, 49, 50, 51]);
const drawable = (): FaultSpec[] =>
  faultKinds.map(({ kind }) => kind).filter((kind) => !hanging.has(kind) && (kind < 29 || kind > 31));

/** A plan ready for use: gives the fault of the n-th request, or none. */
export function compileFaults(
  plan: FaultPlan | undefined,
): (turn: number, now: EpochMillis) => PlannedFault | undefined {
  if (plan === undefined) return () => undefined;
  const script = new Map(Object.entries(plan.script ?? {}).map(([at, spec]) => [Number(at), spec && makerOf(spec)]));
  const always = plan.always === undefined ? undefined : makerOf(plan.always);
  const drawn = plan.rate ? (plan.kinds ?? drawable()).map(makerOf) : [];
  const random: Random = seededRandom(plan.seed ?? 1);
  return (turn, now) => {
    const scripted = script.get(turn);
    if (scripted !== undefined) return scripted ? scripted(now) : undefined;
    if (always) return always(now);
    if (drawn.length === 0 || random() >= (plan.rate ?? 0)) return undefined;
    return drawn[Math.floor(random() * drawn.length)]?.(now);
  };
}
