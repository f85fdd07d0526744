/**
 * What watching a run costs: microseconds of reporter time per event, painting included, and the writing of exports.
 * The run is made up beforehand, so that only the reporters are measured.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RunEvent } from '../src/domain/run-event.ts';
import { writeCsv } from '../src/reporters/csv/csv-rows.ts';
import { writeHtmlReport } from '../src/reporters/html/html-report.ts';
import { jsonEvents } from '../src/reporters/json/json-events.ts';
import type { RunObserver, TextSink, Ticker } from '../src/reporters/observer.ts';
import { liveReporter } from '../src/reporters/terminal/live-reporter.ts';
import { liveState, reduceLive } from '../src/reporters/terminal/live-state.ts';
import { plainReporter } from '../src/reporters/terminal/plain-lines.ts';
import { colourStyle } from '../src/reporters/terminal/style.ts';
import { type SampleLane, sampleReader, sampleRun } from '../test/support/sample-run.ts';

const lanes: readonly SampleLane[] = Array.from({ length: 8 }, (_, at) => ({
  key: `sim:lane-${at}`,
  cases: 5_000,
  limit: 32,
  latencyMs: 400 + 100 * at,
  ...(at % 3 === 0
    ? {
        blocks: [
          { at: 10_000, forMs: 3_000 },
          { at: 30_000, forMs: 5_000 },
        ],
      }
    : {}),
}));

setFlagsFromString('--expose-gc');
/** What is still in use, without what is only not yet collected. */
const collect = runInNewContext('gc') as () => void;

function counter(): TextSink & { bytes: number } {
  const sink = {
    bytes: 0,
    write(text: string) {
      sink.bytes += text.length;
    },
  };
  return sink;
}

/** A ticker driven by the events' own times, so that the run is drawn as often as a real one. */
function replayTicker(): Ticker & { to(now: number): void } {
  let now = 0;
  const jobs: { next: number; ms: number; fire: () => void }[] = [];
  return {
    now: () => now,
    every(ms, fire) {
      const job = { next: 0, ms, fire };
      jobs.push(job);
      return () => void jobs.splice(jobs.indexOf(job), 1);
    },
    to(at) {
      now = at;
      for (const job of jobs) {
        if (job.next > at) continue;
        job.next = at + job.ms;
        job.fire();
      }
    },
  };
}

/** Best of three, in microseconds per event: what others do on the machine only adds. */
function perEvent(
  events: readonly RunEvent[],
  make: () => { observer: Pick<RunObserver, 'observe'>; to?: (at: number) => void },
): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const { observer, to } = make();
    const begun = process.cpuUsage();
    for (const event of events) {
      to?.(event.at);
      observer.observe(event);
    }
    const used = process.cpuUsage(begun);
    best = Math.min(best, (used.user + used.system) / events.length);
  }
  return best;
}

async function exportRate(cases: number): Promise<{ rowsPerSecond: number; megabytes: number; heapMegabytes: number }> {
  const reader = sampleReader({ lanes: [{ key: 'a', cases, limit: 16, latencyMs: 10 }], conversationEvery: 1_000_000 });
  const sink = counter();
  let heap = 0;
  let writes = 0;
  collect();
  const before = process.memoryUsage().heapUsed;
  const watching = {
    write(text: string) {
      if (writes++ % 16 === 0) {
        collect();
        heap = Math.max(heap, process.memoryUsage().heapUsed - before);
      }
      sink.write(text);
    },
  };
  const begun = performance.now();
  await writeHtmlReport(reader, watching);
  const seconds = (performance.now() - begun) / 1000;
  return {
    rowsPerSecond: Math.round(cases / seconds),
    megabytes: sink.bytes / 1e6,
    heapMegabytes: Math.round(heap / 1e6),
  };
}

async function run(_options: {
  json: boolean;
}): Promise<{ name: string; figures: Record<string, number>; cases: object[] }> {
  const events = [...sampleRun({ lanes })];
  const size = () => ({ columns: 120, rows: 50 });
  const live = perEvent(events, () => {
    const ticker = replayTicker();
    return { observer: liveReporter({ sink: counter(), ticker, size, style: colourStyle }), to: ticker.to };
  });
  const plain = perEvent(events, () => {
    const ticker = replayTicker();
    return { observer: plainReporter({ sink: counter(), ticker }), to: ticker.to };
  });
  const reduce = perEvent(events, () => {
    const state = liveState();
    return { observer: { observe: (event) => reduceLive(state, event) } };
  });
  const json = perEvent(events, () => ({ observer: jsonEvents({ sink: counter(), brief: true }) }));
  const csv = counter();
  await writeCsv(sampleReader({ lanes: [{ key: 'a', cases: 1_000, limit: 8, latencyMs: 10 }] }), csv);
  const conversations = counter();
  await writeHtmlReport(
    sampleReader({ lanes: [{ key: 'a', cases: 1_000, limit: 8, latencyMs: 10 }], conversationEvery: 1, turns: 12 }),
    conversations,
  );
  const small = await exportRate(10_000);
  const large = await exportRate(100_000);
  const figures = {
    events: events.length,
    reduceMicrosPerEvent: reduce,
    liveMicrosPerEvent: live,
    plainMicrosPerEvent: plain,
    jsonMicrosPerEvent: json,
    htmlRowsPerSecond: large.rowsPerSecond,
    htmlHundredThousandRowsMegabytes: large.megabytes,
    htmlHeapMegabytesAt10k: small.heapMegabytes,
    htmlHeapMegabytesAt100k: large.heapMegabytes,
    htmlThousandConversationsMegabytes: conversations.bytes / 1e6,
  };
  return { name: 'reporters', figures, cases: [small, large] };
}

export const bench = { name: 'reporters', run };
