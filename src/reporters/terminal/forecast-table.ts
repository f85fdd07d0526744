import type { Forecast, LaneForecast, Range } from '../../domain/forecast.ts';
import { amount, clock, counted, duration, money } from '../../domain/measures.ts';
import { laneLabel } from '../lane-label.ts';
import { plainStyle, type Style } from './style.ts';
import { clamp, cut, fill, fillLeft, textWidth, wrap } from './text-width.ts';

export interface ForecastTableOptions {
  readonly width: number;
  readonly style?: Style;
  readonly labels?: Readonly<Record<string, string>>;
}

/** One value when low and high say the same, else both ends. */
function span({ low, likely, high }: Range, word: (value: number) => string): string {
  const [from, to] = [word(low), word(high)];
  if (from === to) return likely === 0 || (low === likely && high === likely) ? from : `~${word(likely)}`;
  return `${from} - ${to}`;
}

const time = (ms: number): string =>
  ms < 60_000 ? duration(ms < 1_000 ? ms : Math.round(ms / 1000) * 1000) : clock(ms);
const wholeSeconds = (text: string): string => text.replaceAll('.0 s', ' s');
export const times = (range: Range): string => wholeSeconds(span(range, time));
const costs = (range: Range | null): string => (range === null ? 'unknown' : span(range, money));

interface Cells {
  readonly lane: string;
  readonly cases: string;
  readonly calls: string;
  readonly tokens: string;
  readonly bound: string;
  readonly time: string;
  readonly cost: string;
}

const heads: Cells = {
  lane: 'LANE',
  cases: 'CASES',
  calls: 'CALLS',
  tokens: 'TOKENS',
  bound: 'BOUND BY',
  time: 'TIME',
  cost: 'COST',
};

function cellsOf(lane: LaneForecast, labels: Readonly<Record<string, string>>): Cells {
  return {
    lane: laneLabel(lane.lane, labels),
    cases: lane.cases === 0 ? '-' : String(lane.cases),
    calls: span(lane.calls, amount).replace(/^(.+) - .+$/, `~${amount(lane.calls.likely)}`),
    tokens: `~${amount(lane.tokens.likely)}`,
    bound: lane.boundBy,
    time: times(lane.timeMs),
    cost: costs(lane.costUsdMicros),
  };
}

const columns = ['lane', 'cases', 'calls', 'tokens', 'bound', 'time', 'cost'] as const;
const toTheRight = new Set<string>(['cases', 'calls', 'tokens', 'time', 'cost']);

function layout(rows: readonly Cells[], width: number): Readonly<Record<(typeof columns)[number], number>> {
  const wide = Object.fromEntries(
    columns.map((column) => [column, Math.max(...rows.map((row) => textWidth(row[column])))]),
  ) as Record<(typeof columns)[number], number>;
  const total = (): number =>
    2 + columns.reduce((sum, column) => sum + (wide[column] === 0 ? 0 : wide[column] + 2), -2);
  if (total() > width) wide.tokens = 0;
  if (total() > width) wide.bound = Math.max(10, wide.bound - (total() - width));
  if (total() > width) wide.lane = Math.max(10, wide.lane - (total() - width));
  if (total() > width) wide.cases = 0;
  return wide;
}

/** The forecast before a run: one line a lane, then when it ends and who decides that. */
export function forecastTable(forecast: Forecast, options: ForecastTableOptions): string[] {
  const style = options.style ?? plainStyle;
  const labels = options.labels ?? {};
  const rows = [heads, ...forecast.lanes.map((lane) => cellsOf(lane, labels))];
  const wide = layout(rows, options.width);
  const lines = rows.map((row, at) => {
    const cells = columns
      .filter((column) => wide[column] > 0)
      .map((column) => {
        const text = cut(row[column], wide[column]);
        return toTheRight.has(column) ? fillLeft(text, wide[column]) : fill(text, wide[column]);
      });
    const line = `  ${cells.join('  ')}`;
    return at === 0 ? style.faint(line) : line;
  });
  return [
    ...lines,
    ...closing(forecast, labels).flatMap((line) => wrap(line, options.width - 2).map((part) => `  ${part}`)),
  ].map((line) => clamp(line, options.width));
}

function closing(forecast: Forecast, labels: Readonly<Record<string, string>>): string[] {
  const decided = forecast.decidedBy === undefined ? '' : `, decided by ${laneLabel(forecast.decidedBy, labels)}`;
  const sameTime = times({ ...forecast.timeMs, low: forecast.timeMs.likely, high: forecast.timeMs.likely });
  const range = times(forecast.timeMs);
  const between = range.includes(' - ') ? ` (${range})` : '';
  const price =
    forecast.costUsdMicros === null ? 'The price is not fully known.' : `Cost ${costs(forecast.costUsdMicros)}.`;
  const prices = forecast.pricesFrom === undefined ? '' : ` Prices of ${forecast.pricesFrom}; change with \`prices:\`.`;
  return [
    `Expected finish in about ${sameTime}${between}${decided}. ${price}`,
    `${counted(forecast.cases, 'case')}; ${forecast.basis}.${prices}`,
  ];
}
