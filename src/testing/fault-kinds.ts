import type { EpochMillis } from '../domain/ids.ts';
import type { FaultAct } from './fault-act.ts';
import { rateFaults } from './fault-kinds/rate-faults.ts';
import { semanticFaults } from './fault-kinds/semantic-faults.ts';
import { serverFaults } from './fault-kinds/server-faults.ts';
import { transportFaults } from './fault-kinds/transport-faults.ts';

export type FaultGroup = 'rate' | 'server' | 'transport' | 'stream' | 'semantics';

/** One of the 64 kinds of trouble, with the forms it is met in. The first variant is used when none is asked for. */
export interface FaultKind {
  readonly kind: number;
  readonly group: FaultGroup;
  readonly title: string;
  readonly variants: Readonly<Record<string, (now: EpochMillis) => FaultAct>>;
}

/** All kinds, by number from 1. */
export const faultKinds: readonly FaultKind[] = [
  ...rateFaults,
  ...serverFaults,
  ...transportFaults,
  ...semanticFaults,
].toSorted((a, b) => a.kind - b.kind);
