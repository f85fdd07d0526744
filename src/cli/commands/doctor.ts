import type { Command } from 'commander';
import { ConfigError } from '../../config/loading.ts';
import { problemText } from '../../domain/problem.ts';
import { shownPath } from '../../platform/config-files.ts';
import { redactText } from '../../reporters/redact/redact-row.ts';
import { openStore } from '../../store/open-store.ts';
import type { CliContext } from '../cli-context.ts';
import { chosenConfig, configOption } from '../config-argument.ts';
import {
  type Finding,
  findingLines,
  isBad,
  providerFinding,
  storageFinding,
  versionFindings,
} from '../doctor/findings.ts';
import {
  examine,
  learnedFrom,
  namedProviders,
  neededGraders,
  type Probe,
  type ProviderHealth,
  probe,
} from '../doctor/provider-health.ts';
import { exitCodes } from '../exit-code.ts';
import { secretsOf } from '../known-secrets.ts';
import { storeOption } from '../open-project-store.ts';
import { storeFolder } from '../open-run-project.ts';
import { openWorkshop, type Workshop } from '../open-workshop.ts';

interface DoctorOptions {
  readonly config?: string;
  readonly store?: string;
  readonly probe?: boolean;
  readonly json?: boolean;
}

type Loaded = Awaited<ReturnType<Workshop['load']>>;

async function loadConfig(file: string | undefined, workshop: Workshop): Promise<Loaded | Finding> {
  try {
    return await workshop.load(file === undefined ? [] : [file]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const first = error.problems.find(({ severity }) => severity !== 'warning') ?? error.problems[0];
    const detail = `${first === undefined ? error.message : problemText(first)}; see all: parlane check`;
    const none = first?.message.startsWith('there is no config here') === true;
    return {
      name: 'config',
      state: none ? 'none' : 'broken',
      detail: none ? 'none here; make one: parlane init' : detail,
    };
  }
}

/** Asks each provider once, and remembers the limits it tells, as a run would. */
async function probeAll(healths: readonly ProviderHealth[], folder: string): Promise<Map<ProviderHealth, Probe>> {
  const probes = new Map<ProviderHealth, Probe>();
  const store = await openStore({ at: folder });
  try {
    for (const health of healths) {
      if (health.provider === undefined || health.silent === true) continue;
      const found = await probe(health.provider);
      probes.set(health, found);
      const learned = learnedFrom(found.readings);
      if (learned.length > 0) await store.saveLimits(health.provider.laneKey, learned);
    }
  } finally {
    await store.close();
  }
  return probes;
}

async function projectFindings(
  loaded: Loaded,
  workshop: Workshop,
  options: DoctorOptions,
  context: CliContext,
): Promise<Finding[]> {
  const shown = (path: string): string => shownPath(path, context.cwd);
  const { suite, configs } = loaded;
  const named = namedProviders(suite);
  const all = [...named, ...(await neededGraders(loaded, named, workshop))];
  const healths = all.map((one) => examine(one, { workshop, suite, configs, shown }));
  const probes = options.probe === true ? await probeAll(healths, storeFolder(context, options.store)) : new Map();
  for (const { provider } of healths) await provider?.cleanup?.();
  const config: Finding = { name: 'config', state: 'ok', detail: configs.map(shown).join(', ') };
  return [config, ...healths.map((health) => providerFinding(health, probes.get(health)))];
}

async function doctor(file: string | undefined, options: DoctorOptions, context: CliContext): Promise<void> {
  const workshop = openWorkshop(context);
  try {
    const loaded = await loadConfig(chosenConfig(file, options.config), workshop);
    const own = 'suite' in loaded ? await projectFindings(loaded, workshop, options, context) : [loaded];
    const folder = storeFolder(context, options.store);
    const storage = await storageFinding(folder, `${shownPath(folder, context.cwd)}/`);
    const findings = [...own, storage, ...versionFindings()];
    const clean = redactText(secretsOf(context.env));
    context.print(clean(options.json === true ? JSON.stringify({ findings }) : findingLines(findings).join('\n')));
    if (findings.some(isBad)) context.exit(exitCodes.badInput);
  } finally {
    await workshop.close();
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[config]', 'a config file or folder (default: the one in this folder)')
    .option(...configOption)
    .option('--probe', 'ask every provider once, with a few tokens, and remember the limits it tells')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane doctor\n  parlane doctor --probe\n  parlane doctor evals/parlane.yaml --json\n',
    )
    .addHelpText('after', '\nEnds with 2 when a key is missing or something is broken.')
    .action((file: string | undefined, options: DoctorOptions) => doctor(file, options, context));
}
