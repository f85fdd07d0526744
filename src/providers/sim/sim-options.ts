import { distance } from 'fastest-levenshtein';
import { ParlaneError } from '../../domain/errors.ts';
import type { Millis } from '../../domain/ids.ts';
import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { type LatencyModel, parseDuration, parseLatency } from '../../sim/latency-model.ts';

/** Who a simulated model plays; `auto` judges when it is asked to, uses tools when offered, and answers otherwise. */
export type SimRole = 'auto' | 'agent' | 'client' | 'judge' | 'echo';

/** How a rejection tells when to come back. */
export type HintStyle = 'all' | 'headers' | 'seconds' | 'milliseconds' | 'http-date' | 'none';

/** What can go wrong, each with its share of calls from 0 to 1. */
export interface SimFaultRates {
  readonly overloaded: number;
  readonly error: number;
  readonly limited: number;
  readonly reset: number;
  readonly hang: number;
  readonly empty: number;
  readonly malformed: number;
  readonly cut: number;
  readonly filter: number;
  readonly refuse: number;
  readonly slow: number;
}

export interface SimOptions {
  readonly preset: string;
  readonly role: SimRole;
  readonly seed: number;
  readonly latency: LatencyModel;
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly concurrency: number | undefined;
  readonly perDay: number | undefined;
  /** Requests that the bucket holds at most; a minute's worth unless said. */
  readonly burst: number | undefined;
  /** Calls above this many wait inside, without being told. */
  readonly queue: number | undefined;
  /** Limits are counted in fixed windows of this length, instead of refilled continuously. */
  readonly window: Millis | undefined;
  /** Refill arrives in steps of this length. */
  readonly quantum: Millis | undefined;
  /** Tokens count by real use, or are reserved up to `max_tokens` and given back. */
  readonly count: 'real' | 'reserve';
  /** Share of the rate that somebody else on the same key uses up. */
  readonly neighbour: number;
  /** From then on, rates are multiplied. */
  readonly change: { readonly atMs: Millis; readonly factor: number } | undefined;
  readonly hints: HintStyle;
  readonly rates: SimFaultRates;
  /** USD per million tokens of input and output. */
  readonly price: { readonly input: number; readonly output: number };
  readonly timeoutMs: Millis;
  /** Always this text. */
  readonly reply: string | undefined;
  /** Replies by turn and rules by what was said last, from the config. */
  readonly replies: readonly Json[];
  readonly rules: readonly JsonObject[];
}

const noFaults: SimFaultRates = {
  overloaded: 0,
  error: 0,
  limited: 0,
  reset: 0,
  hang: 0,
  empty: 0,
  malformed: 0,
  cut: 0,
  filter: 0,
  refuse: 0,
  slow: 0,
};

/** Ready-made models, as the settings that make them. */
const simPresets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fast: { latency: '120ms~250ms' },
  strict: { latency: '300ms~600ms', rpm: '120', burst: '10', hints: 'all' },
  slow: { latency: '2s~6s' },
  flaky: { latency: '200ms~800ms', fail: '10%', malformed: '5%' },
  agent: { latency: '150ms~400ms', role: 'agent' },
  client: { latency: '120ms~300ms', role: 'client' },
  judge: { latency: '200ms~400ms', role: 'judge' },
  echo: { latency: '0ms', role: 'echo' },
  instant: { latency: '0ms' },
};

const roles: readonly SimRole[] = ['auto', 'agent', 'client', 'judge', 'echo'];
const hintStyles: readonly HintStyle[] = ['all', 'headers', 'seconds', 'milliseconds', 'http-date', 'none'];
const rateNames = Object.keys(noFaults) as (keyof SimFaultRates)[];
const settingNames: readonly string[] = [
  ...['role', 'seed', 'latency', 'rpm', 'tpm', 'concurrency', 'perDay', 'burst', 'queue', 'hints', 'fail', 'price'],
  ...['window', 'quantum', 'count', 'neighbour', 'change'],
  ...['timeout', 'reply', 'replies', 'rules'],
  ...rateNames,
];

const bad = (what: string, cure: string): ParlaneError => new ParlaneError('provider/sim-setting', what, cure);

function nearest(name: string, names: readonly string[]): string {
  return names.toSorted((a, b) => distance(name, a) - distance(name, b))[0] ?? '';
}

/** `2%`, `0.02`; checked to be a share. */
function share(name: string, text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text);
  if (text !== '' && value >= 0 && value <= 1) return value;
  throw bad(`sim: ${name}=${text} is not a share.`, `Write ${name}=2% or ${name}=0.02.`);
}

function count(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw bad(`sim: ${name}=${text} is not a number above 0.`, `Write ${name}=60.`);
}

function choice<T extends string>(name: string, text: string | undefined, all: readonly T[], otherwise: T): T {
  if (text === undefined) return otherwise;
  const found = all.find((one) => one === text);
  if (found !== undefined) return found;
  throw bad(`sim: ${name}=${text} is unknown.`, `Use one of ${all.join(', ')}.`);
}

function priceOf(text: string | undefined): { input: number; output: number } {
  if (text === undefined) return { input: 0, output: 0 };
  const match = /^(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?$/.exec(text);
  if (match === null)
    throw bad(`sim: price=${text} is no price.`, 'Write price=1/4: USD per million tokens in and out.');
  return { input: Number(match[1]), output: Number(match[2] ?? match[1]) };
}

function durationOf(name: string, text: string | undefined): Millis | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw bad(`sim: ${name}=${text} is not a time.`, `Write ${name}=10s.`);
}

/** `60s:0.5`: after a minute, half. */
function changeOf(text: string | undefined): SimOptions['change'] {
  if (text === undefined) return undefined;
  const [at = '', factor = ''] = text.split(':');
  const atMs = parseDuration(at);
  if (atMs !== undefined && /^\d+(?:\.\d+)?$/.test(factor) && Number(factor) > 0)
    return { atMs, factor: Number(factor) };
  throw bad(`sim: change=${text} is not a time and a factor.`, 'Write change=60s:0.5.');
}

/** `fail` is shared out over the failures that a client meets every day. */
function ratesOf(settings: Readonly<Record<string, string>>): SimFaultRates {
  const fail = share('fail', settings['fail'] ?? '0');
  const base = { ...noFaults, overloaded: fail * 0.4, error: fail * 0.4, reset: fail * 0.2 };
  const own = rateNames.filter((name) => settings[name] !== undefined);
  return { ...base, ...Object.fromEntries(own.map((name) => [name, share(name, settings[name] ?? '')])) };
}

function latencyOf(text: string): LatencyModel {
  const model = parseLatency(text);
  if (model) return model;
  throw bad(`sim: latency=${text} is not a time.`, 'Write latency=300ms, 200-400ms, or 300ms~900ms (median and p95).');
}

/** The part of an id after `sim:`, taken apart: `strict?rpm=120&fail=2%`. */
function splitId(id: string): { preset: string; settings: Record<string, string> } {
  const [preset = '', query = ''] = id.replace(/^sim:?/, '').split('?', 2);
  const settings: Record<string, string> = {};
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const at = pair.indexOf('=');
    // `%` stands for percent here, so that only well-formed escapes are decoded.
    const text = (at < 0 ? 'true' : pair.slice(at + 1)).replace(/%([0-9a-f]{2})/giu, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    settings[at < 0 ? pair : pair.slice(0, at)] = text;
  }
  return { preset: preset === '' ? 'fast' : preset, settings };
}

function checkNames(settings: object): void {
  for (const name of Object.keys(settings)) {
    if (settingNames.includes(name)) continue;
    throw bad(`sim: there is no setting "${name}".`, `Did you mean ${nearest(name, settingNames)}?`);
  }
}

const plainSettings = (config: JsonObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
      .map(([name, value]) => [name, String(value)]),
  );

/** Reads a sim id and its config; settings in the id win over the config, the config over the preset. */
export function readSimOptions(id: string, config: JsonObject = {}): SimOptions {
  const { preset, settings: own } = splitId(id);
  const base = simPresets[preset];
  if (base === undefined) {
    const names = Object.keys(simPresets);
    throw new ParlaneError(
      'provider/unknown-sim',
      `There is no simulated model "${preset}".`,
      `Did you mean sim:${nearest(preset, names)}? Known: ${names.join(', ')}.`,
    );
  }
  const { lane: _lane, ...given } = config;
  checkNames({ ...own, ...given });
  const settings: Readonly<Record<string, string>> = { ...base, ...plainSettings(given), ...own };
  const seed = settings['seed'] ?? '1';
  if (!/^-?\d+$/.test(seed)) throw bad(`sim: seed=${seed} is not a whole number.`, 'Write seed=7.');
  return {
    preset,
    role: choice('role', settings['role'], roles, 'auto'),
    seed: Number(seed),
    latency: latencyOf(settings['latency'] ?? '0ms'),
    rpm: count('rpm', settings['rpm']),
    tpm: count('tpm', settings['tpm']),
    concurrency: count('concurrency', settings['concurrency']),
    perDay: count('perDay', settings['perDay']),
    burst: count('burst', settings['burst']),
    queue: count('queue', settings['queue']),
    window: durationOf('window', settings['window']),
    quantum: durationOf('quantum', settings['quantum']),
    count: choice('count', settings['count'], ['real', 'reserve'], 'real'),
    neighbour: share('neighbour', settings['neighbour'] ?? '0'),
    change: changeOf(settings['change']),
    hints: choice('hints', settings['hints'], hintStyles, 'all'),
    rates: ratesOf(settings),
    price: priceOf(settings['price']),
    timeoutMs: durationOf('timeout', settings['timeout']) ?? 60_000,
    reply: settings['reply'],
    replies: Array.isArray(given['replies']) ? given['replies'] : [],
    rules: Array.isArray(given['rules']) ? given['rules'].filter(isObject) : [],
  };
}
