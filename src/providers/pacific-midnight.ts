import type { EpochMillis } from '../domain/ids.ts';

const pacific = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hourCycle: 'h23',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
});

/** The next midnight in Los Angeles, where Google's daily quotas start anew. Days of 23 and 25 hours included. */
export function nextPacificMidnight(now: EpochMillis): EpochMillis {
  const later = now + (86_400 - secondOfDay(now)) * 1000;
  const guess = later - (later % 1000);
  const off = secondOfDay(guess);
  return guess - (off > 43_200 ? off - 86_400 : off) * 1000;
}

function secondOfDay(at: EpochMillis): number {
  const part = (name: string): number => Number(parts.find(({ type }) => type === name)?.value ?? 0);
  const parts = pacific.formatToParts(at);
  return part('hour') * 3600 + part('minute') * 60 + part('second');
}
