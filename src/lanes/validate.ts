import { ParlaneError } from '../domain/errors.ts';
import type { LaneLimits } from '../domain/lane.ts';
import type { LaneSpec } from './lane-state.ts';
import type { CallInput } from './queued-call.ts';

const positive = ['rpm', 'tpm', 'inputTpm', 'outputTpm'] as const;
const counts = ['maxConcurrent'] as const;
const notNegative = ['minGapMs', 'maxRetries', 'maxRateLimited'] as const;

/** Refuses limits that no lane could keep. */
export function checkLimits(where: string, limits: LaneLimits): void {
  for (const name of positive)
    check(where, name, limits[name], (value) => value > 0 && Number.isFinite(value), 'a number above 0');
  for (const name of counts)
    check(where, name, limits[name], (value) => value >= 1 && Number.isInteger(value), 'a whole number from 1');
  for (const name of notNegative)
    check(where, name, limits[name], (value) => value >= 0 && Number.isFinite(value), 'a number from 0');
}

export function checkLane(spec: LaneSpec): void {
  checkLimits(`lane ${spec.key}`, spec.limits ?? {});
  for (const node of spec.shared ?? []) checkLimits(`shared limit ${node.key}`, node.limits ?? {});
  check(
    `lane ${spec.key}`,
    'ceiling',
    spec.ceiling,
    (value) => value >= 1 && Number.isInteger(value),
    'a whole number from 1',
  );
  check(`lane ${spec.key}`, 'weight', spec.weight, (value) => value > 0 && Number.isFinite(value), 'a number above 0');
}

export function checkCall(call: CallInput): void {
  const sound = (value: number): boolean => value >= 0 && Number.isFinite(value);
  for (const name of ['input', 'maxOutput', 'notBefore', 'made', 'expected'] as const) {
    check(`call ${call.path} of case ${call.index}`, name, call[name], sound, 'a number from 0');
  }
}

function check(
  where: string,
  name: string,
  value: number | undefined,
  sound: (value: number) => boolean,
  wanted: string,
): void {
  if (value === undefined || sound(value)) return;
  throw new ParlaneError('lanes/bad-number', `${where}: ${name} is ${value}.`, `Give ${wanted}, or leave it out.`, {
    where,
    name,
    value,
  });
}
