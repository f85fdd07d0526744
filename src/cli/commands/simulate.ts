import { resolve } from 'node:path';
import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import { runId } from '../../domain/ids.ts';
import { realClock } from '../../platform/clock.ts';
import { realFiles } from '../../platform/files.ts';
import { isAlive, thisProcess } from '../../platform/process-identity.ts';
import { defaultSpecification, PromptSpecificationManager } from '../../prompts/specification-manager.ts';
import type { LiveState } from '../../reporters/terminal/live-state.ts';
import type { BatchJob } from '../../run/batch-job.ts';
import { BatchProcessor, type NewBatch } from '../../run/batch-processor.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { checkBatchFile, writeBatchFile } from '../batch-files.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-code.ts';
import { amountAboveZero, wholeNumber } from '../number-option.ts';
import { storeOption } from '../open-project-store.ts';
import { storeFolder } from '../open-run-project.ts';
import { placed } from '../place-provider-error.ts';
import { listenForStop, playWatched, showFor } from '../play-watched.ts';
import { readScenarios } from '../read-scenarios.ts';
import { summaryText } from '../summary-text.ts';
import { tellEnd } from '../tell-run.ts';

interface SimulateOptions {
  readonly spec: string;
  readonly specs?: string;
  readonly tools: boolean;
  readonly repeat?: string;
  readonly agentModel?: string;
  readonly clientModel?: string;
  readonly judgeModel?: string;
  readonly maxTurns?: string;
  readonly timeoutSec?: string;
  readonly budget?: string;
  readonly firstSpeaker?: string;
  readonly enrichmentUrl?: string;
  readonly enrichmentPolicy?: string;
  readonly output?: string;
  readonly store?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
}

function oneOf<T extends string>(flag: string, text: string | undefined, known: readonly T[]): T | undefined {
  if (text === undefined) return undefined;
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new ParlaneError('cli/bad-value', `${flag} is "${text}".`, `It must be ${known.join(', ')}.`, { flag });
}

/** The batch that the flags describe. Without a model the simulated ones play. */
function batchOf(options: SimulateOptions): Omit<NewBatch, 'scenarios'> {
  const agent = options.agentModel ?? 'sim:agent';
  const client = options.clientModel ?? options.agentModel ?? 'sim:client';
  const [repeat, maxTurns] = [wholeNumber('--repeat', options.repeat), wholeNumber('--max-turns', options.maxTurns)];
  const [timeoutSec, budgetUsd] = [
    amountAboveZero('--timeout-sec', options.timeoutSec),
    amountAboveZero('--budget', options.budget),
  ];
  const firstSpeaker = oneOf('--first-speaker', options.firstSpeaker, ['agent', 'client']);
  const policy = oneOf('--enrichment-policy', options.enrichmentPolicy, ['fail', 'continue', 'skip']);
  return {
    promptSpecName: options.spec,
    useTools: options.tools,
    models: {
      agent: { provider: agent },
      client: { provider: client },
      ...(options.judgeModel === undefined ? {} : { judge: { provider: options.judgeModel } }),
    },
    ...(repeat === undefined ? {} : { repeat }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(timeoutSec === undefined ? {} : { timeoutSec }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(options.output === undefined ? {} : { outputs: [options.output] }),
    ...(firstSpeaker === undefined ? {} : { firstSpeaker }),
    ...(options.enrichmentUrl === undefined
      ? {}
      : { enrichment: { url: options.enrichmentUrl, ...(policy === undefined ? {} : { policy }) } }),
  };
}

async function simulate(file: string, options: SimulateOptions, context: CliContext): Promise<void> {
  const specsFolder = resolve(context.cwd, options.specs ?? 'prompts');
  if (options.output !== undefined) checkBatchFile(options.output, context.cwd);
  const batch = batchOf(options);
  const { specification } = await new PromptSpecificationManager(realFiles, specsFolder).snapshot(options.spec);
  const { scenarios, written } = await readScenarios(context, file, {
    specification,
    enriched: options.enrichmentUrl !== undefined,
    scored: options.judgeModel !== undefined,
  });
  const store = await openStore({ at: storeFolder(context, options.store) });
  using interrupt = listenForStop(context);
  try {
    const processor = new BatchProcessor({
      store,
      env: context.env,
      folder: context.cwd,
      specsFolder,
      owner: thisProcess(),
      ownerAlive: (owner) => isAlive(owner, realClock.now()),
    });
    const created = await processor.create({ ...batch, scenarios }).catch(async (error: unknown) => {
      throw await placed(error, { configs: [resolve(context.cwd, file)], written, prompts: [] }, context);
    });
    if (options.agentModel === undefined)
      context.complain('No --agent-model was given: the simulated models sim:agent and sim:client play.');
    const watched = { title: options.spec, store, folder: storeFolder(context, options.store), show: showFor(options) };
    const { result: job, watch } = await playWatched(context, watched, interrupt, (stage) =>
      processor.run(created.batch_id, stage),
    );
    if (options.output !== undefined) await writeBatchFile(options.output, runId(job.batch_id), store, context);
    await tell({ processor, store, job, state: watch.state }, options, context);
  } finally {
    await store.close();
  }
}

interface Played {
  readonly processor: BatchProcessor;
  readonly store: Store;
  readonly job: BatchJob;
  readonly state: LiveState;
}

async function tell(
  { processor, store, job, state: { efficiency, stop } }: Played,
  options: SimulateOptions,
  context: CliContext,
): Promise<void> {
  const summary = await processor.summary(job.batch_id);
  const complete = job.status === 'completed';
  const totals = { planned: summary.planned, ...summary.counts };
  const need = stop?.need === undefined ? {} : { need: stop.need };
  const end = { run: runId(job.batch_id), totals, complete, ...need };
  const code = exitCodeOf(end);
  context.exit(code);
  if (options.json === true) {
    context.print(JSON.stringify({ ...job, summary, efficiency }));
    return;
  }
  const width = context.terminal.columns;
  const text = summaryText(summary, { efficiency: complete ? efficiency : undefined, width });
  context.print(`batch ${job.batch_id}\n${text}`);
  if (options.output !== undefined) context.print(`written    ${options.output}`);
  if (!complete) context.print(job.error_message ?? 'Stopped.');
  await tellEnd(end, { code, store, folder: storeFolder(context, options.store) }, context);
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('<scenarios>', 'a JSON or YAML list of scenarios')
    .option('--spec <name>', 'the prompt specification', defaultSpecification)
    .option('--specs <folder>', 'where specifications are looked up before the shipped ones (default: prompts)')
    .option('--no-tools', 'play without tools and handoffs')
    .option('--repeat <n>', 'how often each scenario is played')
    .option('--agent-model <id>', 'the model of the agents, for example openai:gpt-4.1')
    .option('--client-model <id>', "the client's model (default: the agents')")
    .option('--judge-model <id>', "scores each conversation with the specification's evaluator")
    .option('--max-turns <n>', 'most turns of a conversation (default: 30)')
    .option('--timeout-sec <s>', 'most working time of a conversation (default: 90)')
    .option('--first-speaker <side>', 'agent or client')
    .option('--budget <usd>', 'a spend cap for the whole batch, in dollars')
    .option('--enrichment-url <url>', 'a webhook that gives the variables of a client_id')
    .option('--enrichment-policy <policy>', 'when it fails: fail, continue or skip')
    .option('-o, --output <file>', 'write the results: .json, .ndjson or .csv, or a report: .html, .xml')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane simulate scenarios.yaml --spec order_desk\n  parlane simulate scenarios.yaml --spec order_desk --repeat 4 --judge-model sim:judge -o results.json\n  parlane simulate scenarios.json --agent-model openai:gpt-4.1 --client-model openai:gpt-4.1-mini --budget 2\n',
    )
    .action((file: string, options: SimulateOptions) => simulate(file, options, context));
}
