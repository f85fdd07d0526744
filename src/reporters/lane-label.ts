import type { LaneKey } from '../domain/ids.ts';
import { laneName } from '../domain/lane-name.ts';

/** Control characters and those that turn the writing direction: keys are made from configs and URLs. */
const steering = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A lane for people: its key without the hash of its credentials, or the name somebody gave it. */
export function laneLabel(key: LaneKey, labels: Readonly<Record<string, string>> = {}): string {
  const label = labels[key] ?? laneName(key);
  return label.replace(steering, '');
}
