import type { Json } from '../../domain/json.ts';
import type { Trace } from '../subject.ts';
import { stepsOf } from './trajectory.ts';

/** More steps than this are cut in the middle. */
const longest = 24;

interface Line {
  readonly type: string;
  readonly name: string;
  readonly failed?: string;
  times: number;
}

/** What an agent did, short enough for a judge: neighbours alike are counted, the middle of a long run is left out. */
export function summaryOf(trace: Trace): string {
  const lines: Line[] = [];
  for (const { type, name, span } of stepsOf(trace)) {
    const failed =
      span.statusCode === undefined || span.statusCode < 2
        ? {}
        : { failed: span.statusMessage ?? `status ${span.statusCode}` };
    const last = lines.at(-1);
    if (last?.type === type && last.name === name && last.failed === failed.failed) last.times += 1;
    else lines.push({ type, name, ...failed, times: 1 });
  }
  const half = longest / 2;
  const shown: Json[] =
    lines.length <= longest
      ? lines.map((line) => ({ ...line }))
      : [
          ...lines.slice(0, half).map((line) => ({ ...line })),
          { omitted: lines.length - longest },
          ...lines.slice(-half).map((line) => ({ ...line })),
        ];
  return JSON.stringify({ steps: shown }, null, 2);
}
