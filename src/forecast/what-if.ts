import { ParlaneError } from '../domain/errors.ts';
import type { LaneLimits } from '../domain/lane.ts';
import { laneName, lanesMeant } from '../domain/lane-name.ts';
import type { PlannedLane } from './planned-work.ts';

const fields = ['rpm', 'tpm', 'inputTpm', 'outputTpm', 'maxConcurrent', 'minGapMs'] as const;
type Field = (typeof fields)[number];

const resources: Readonly<Partial<Record<Field, string>>> = {
  rpm: 'requests',
  tpm: 'tokens',
  inputTpm: 'inputTokens',
  outputTpm: 'outputTokens',
};

function changed(lane: PlannedLane, field: Field, value: number): PlannedLane {
  const limits: LaneLimits = { ...lane.spec.limits, [field]: value };
  const learned = (lane.spec.learned ?? []).filter(({ resource }) => resource !== resources[field]);
  return { ...lane, spec: { ...lane.spec, limits, learned } };
}

/** `openai.rpm=1000`: the same lanes with one limit changed; what was learned about it no longer counts. */
export function whatIf(lanes: readonly PlannedLane[], text: string): readonly PlannedLane[] {
  const match = /^(.+)\.([A-Za-z]+)=(\d+(?:\.\d+)?)$/.exec(text.trim());
  const field = fields.find((each) => each === match?.[2]);
  const value = Number(match?.[3]);
  if (match === null || field === undefined || !(value > 0)) {
    throw new ParlaneError(
      'forecast/bad-what-if',
      `"${text}" is not a what-if.`,
      `Write lane.field=number, with one of ${fields.join(', ')}: openai.rpm=1000.`,
      { text },
    );
  }
  const keys = lanes.map(({ spec }) => spec.key);
  const meant = new Set(lanesMeant(keys, match[1] ?? ''));
  if (meant.size === 0) {
    const known = keys.map(laneName).join(', ');
    throw new ParlaneError('forecast/no-such-lane', `No lane is called "${match[1]}".`, `The lanes are ${known}.`, {
      text,
    });
  }
  return lanes.map((lane) => (meant.has(lane.spec.key) ? changed(lane, field, value) : lane));
}
