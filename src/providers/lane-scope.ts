import { type LaneKey, laneKey } from '../domain/ids.ts';
import type { LaneLimits, LaneNode } from '../domain/lane.ts';
import { oneWay, type Secret } from './secret.ts';

/** Everything that tells one rate-limit scope from another. */
export interface LaneScope {
  readonly vendor: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly key?: Secret;
  readonly organization?: string;
  readonly project?: string;
  readonly region?: string;
  /** A pool of several models, such as all Claude Sonnets of an account. */
  readonly family?: string;
  readonly limits?: LaneLimits;
}

export interface Lane {
  readonly laneKey: LaneKey;
  readonly nodes: readonly LaneNode[];
}

/** The lane of a scope and the nodes on its way, outermost first, its own last. No key can be read back from them. */
export function laneOf(scope: LaneScope): Lane {
  const parts = [scope.key?.fingerprint(), scope.baseUrl, scope.organization, scope.project, scope.region];
  const account = `${scope.vendor}#${oneWay(parts.map((part) => part ?? '').join('\n'))}`;
  const key = laneKey(`${account}/${scope.model}`);
  const family = scope.family === undefined ? [] : [{ key: `${account}/family:${scope.family}` }];
  const own: LaneNode = scope.limits === undefined ? { key } : { key, limits: scope.limits };
  return { laneKey: key, nodes: [...family, own] };
}
