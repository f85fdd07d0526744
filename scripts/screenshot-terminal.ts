/**
 * Draws the live view as a picture: `node scripts/screenshot-terminal.ts [--events run.jsonl] [--at seconds] [--out file]`.
 * Without recorded events (`parlane run --json`) it plays a made-up run; the README's picture is made so.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LaneSnapshot, WaitCause } from '../src/domain/lane.ts';
import type { RunEvent } from '../src/domain/run-event.ts';
import { causeFromEvents } from '../src/reporters/terminal/cause-words.ts';
import { liveFrame } from '../src/reporters/terminal/live-frame.ts';
import { type LiveState, liveState, reduceLive } from '../src/reporters/terminal/live-state.ts';
import { colourStyle } from '../src/reporters/terminal/style.ts';
import { type SampleLane, sampleRun } from '../test/support/sample-run.ts';
import { terminalSvg } from './terminal-svg.ts';

const lanes: readonly SampleLane[] = [
  { key: 'openai:gpt-5-mini', cases: 300, limit: 24, latencyMs: 1900, gapMs: 400 },
  {
    key: 'anthropic:sonnet',
    cases: 200,
    limit: 8,
    latencyMs: 2400,
    blocks: [
      { at: 22_000, forMs: 9_000 },
      { at: 58_000, forMs: 31_000 },
    ],
  },
  { key: 'http:my-agent', cases: 140, limit: 2, latencyMs: 1600 },
  { key: 'judge:gpt-5', cases: 60, limit: 1, latencyMs: 300, gapMs: 2500 },
];

function* recorded(path: string): Generator<RunEvent> {
  for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') yield JSON.parse(line) as RunEvent;
}

/** What the scheduler would say about the made-up lanes. */
function snapshots(state: LiveState): LaneSnapshot[] {
  return [...state.lanes.values()].map((lane) => {
    const about = lanes.find(({ key }) => key === lane.key);
    const pace = about?.gapMs === undefined ? undefined : Math.round(60_000 / about.gapMs);
    const paced: WaitCause = { kind: 'requests', until: state.now + 300 };
    return {
      key: lane.key,
      queue: lane.queued,
      inFlight: lane.inFlight,
      maxConcurrentConfig: about?.limit ?? 1,
      maxConcurrentDynamic: lane.limitTo > 0 ? lane.limitTo : (about?.limit ?? 1),
      rpm: pace,
      tpm: undefined,
      nextReqAt: 0,
      nextTokAt: 0,
      blockedUntil: lane.blockedUntil,
      timer: undefined,
      minGapMs: 0,
      pacePerMinute: pace ?? 0,
      started: lane.started,
      ended: lane.ended,
      rejections: lane.rejections,
      cause: pace === undefined ? causeFromEvents(lane, state.now) : paced,
    };
  });
}

const { values } = parseArgs({
  options: {
    events: { type: 'string' },
    at: { type: 'string', default: '72' },
    width: { type: 'string', default: '112' },
    title: { type: 'string', default: 'refund-bot' },
    out: { type: 'string', default: join(import.meta.dirname, '../docs/images/lanes.svg') },
  },
});
const state = liveState();
const width = Number(values.width);
for (const event of values.events === undefined ? sampleRun({ lanes, failing: 0.04 }) : recorded(values.events)) {
  if (state.startedAt !== 0 && event.at > state.startedAt + Number(values.at) * 1000) break;
  reduceLive(state, event);
}
if (values.events === undefined) state.now = state.startedAt + Number(values.at) * 1000;
const frame = liveFrame({
  snapshots: values.events === undefined ? snapshots(state) : [],
  state,
  width,
  height: 40,
  title: values.title,
  keys: true,
  style: colourStyle,
  expectedUsdMicros: 2_100_000,
});
mkdirSync(dirname(values.out), { recursive: true });
writeFileSync(values.out, terminalSvg(frame, width, 'parlane run'));
console.log(values.out);
