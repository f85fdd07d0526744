/** What `doctor` finds, as lines for people and as data. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { amount, counted } from '../../domain/measures.ts';
import type { RateReading } from '../../domain/reply.ts';
import { bundledPrices } from '../../providers/prices.ts';
import { singleLine } from '../../reporters/terminal/text-width.ts';
import { openStore, storeExists } from '../../store/open-store.ts';
import { version } from '../program.ts';
import { type Probe, type ProviderHealth, rateOf } from './provider-health.ts';

export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'found' | 'ready' | 'none' | 'missing' | 'broken';
  readonly detail: string;
}

export const isBad = ({ state }: Finding): boolean => state === 'missing' || state === 'broken';

const hourMs = 3_600_000;

/** `500 requests/min`; where a rate cannot be told from one answer, what the header says. */
function limitWords(reading: RateReading): string {
  const what = reading.resource.replace(/([A-Z])/g, ' $1').toLowerCase();
  const learned = rateOf(reading);
  if (learned === undefined) return `${amount(reading.limit ?? 0)} ${what}`;
  if (learned.windowMs >= hourMs)
    return `${amount(learned.limit)} ${what}/${learned.windowMs > hourMs ? 'day' : 'hour'}`;
  return `${learned.sure ? '' : 'about '}${amount(learned.rate * 60_000)} ${what}/min`;
}

function probeWords({ answers, message, readings }: Probe): string {
  const limits = readings.filter(({ limit }) => limit !== undefined).map(limitWords);
  const told = limits.length === 0 ? 'no limits in its headers' : `${limits.join(', ')} (from headers)`;
  return answers ? `${message} answers; ${told}` : `does not answer: ${singleLine(message)}`;
}

/** One finding per key, or per provider that needs none. */
export function providerFinding(health: ProviderHealth, probed: Probe | undefined): Finding {
  const { id, variable, where, status, problem, grades } = health;
  const place = where === undefined ? (grades === undefined ? '' : `: grades ${grades}`) : ` (${where})`;
  const name = variable ?? id;
  if (status === 'missing-key') {
    const cure = variable === undefined ? (problem ?? '') : `export ${variable}=...`;
    const instead =
      grades === undefined
        ? `remove "${id}"${where === undefined ? '' : ` from ${where}`}`
        : `name another grader than ${id} for ${grades}`;
    return { name, state: 'missing', detail: `${cure}   or ${instead}` };
  }
  if (status === 'broken') return { name, state: 'broken', detail: `${problem ?? ''}${place}` };
  const about = variable === undefined ? 'needs no key' : id;
  if (probed === undefined)
    return { name, state: variable === undefined ? 'ready' : 'found', detail: `${about}${place}` };
  const said = `${variable === undefined ? '' : `${id}: `}${probeWords(probed)}`;
  return { name, state: probed.answers ? 'found' : 'broken', detail: `${said}${place}` };
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

const megabytes = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

export async function storageFinding(folder: string, shown: string): Promise<Finding> {
  if (!existsSync(folder) || !storeExists(folder))
    return { name: 'storage', state: 'none', detail: `${shown} comes with the first run` };
  try {
    const store = await openStore({ at: folder });
    const runs = (await store.runs()).length;
    await store.close();
    return { name: 'storage', state: 'ok', detail: `${shown}  ${megabytes(sizeOf(folder))}, ${counted(runs, 'run')}` };
  } catch (error) {
    return { name: 'storage', state: 'broken', detail: (error as Error).message };
  }
}

export const versionFindings = (): Finding[] => [
  { name: 'parlane', state: 'ok', detail: version() },
  { name: 'node', state: 'ok', detail: process.versions.node },
  { name: 'sqlite', state: 'ok', detail: process.versions['sqlite'] ?? 'built in' },
  {
    name: 'prices',
    state: 'ok',
    detail: `table of ${bundledPrices.date} (${bundledPrices.source} ${bundledPrices.version}); change with prices:`,
  },
];

export function findingLines(findings: readonly Finding[]): string[] {
  const wide = Math.max(...findings.map(({ name }) => name.length));
  return findings.map(({ name, state, detail }) => `  ${name.padEnd(wide)}  ${state.padEnd(7)}  ${singleLine(detail)}`);
}
