/**
 * Whether every recording that tools name is there and has answers for them: asked before anything is sent, so that a
 * run is not paid for whose tools could not answer.
 */
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import { nearestOrAll } from '../prompts/nearest-name.ts';
import type { Store } from '../store/store.ts';
import { specificationsOf } from './plan-conversations.ts';
import { Recordings } from './recorded-tools.ts';
import { agentsOf } from './simulated-user-config.ts';
import { rootOf } from './suite-snapshot.ts';

/** A tool and the run whose answers it gives. */
export interface ReplayedTool {
  readonly tool: string;
  readonly source: string;
}

export interface RecordingFault extends ReplayedTool {
  readonly message: string;
  readonly hint: string;
}

/** The tools of a specification that some agent may call and that answer from a recording. */
export function replayedTools({ specification }: SpecificationSnapshot): ReplayedTool[] {
  const offered = new Set(Object.values(specification.agents).flatMap(({ tools }) => tools));
  return Object.entries(specification.tools ?? {}).flatMap(([tool, { backend }]) =>
    backend.replay !== undefined && offered.has(tool) ? [{ tool, source: backend.replay }] : [],
  );
}

/** The same for the specification inside a simulated user's config, which nobody has checked yet. */
export function replayedToolsOf(provider: Json | undefined): ReplayedTool[] {
  const tools = Object(agentsOf(provider)?.['tools']) as JsonObject;
  return Object.entries(tools).flatMap(([tool, definition]) => {
    const source = (Object(Object(definition)['backend']) as JsonObject)['replay'];
    return typeof source === 'string' ? [{ tool, source }] : [];
  });
}

const fewest = 5;

async function faultOf({ tool, source }: ReplayedTool, recordings: Recordings): Promise<RecordingFault | undefined> {
  const known = await recordings.tools(source);
  if (known?.has(tool) === true) return undefined;
  if (known === undefined) {
    const runs = nearestOrAll(source, (await recordings.runs()).slice(0, fewest));
    const message = `the tool "${tool}" replays the run "${source}", which is not in the store ${recordings.location}`;
    return { tool, source, message, hint: `${runs}; a run of another store is found with --store` };
  }
  const others = known.size === 0 ? 'it recorded no tool calls' : `it has answers of: ${[...known].sort().join(', ')}`;
  const message = `the run "${source}" recorded no answer of the tool "${tool}"`;
  return { tool, source, message, hint: `${others}; name a run that called it, or give it another backend` };
}

export async function recordingFaults(
  tools: readonly ReplayedTool[],
  recordings: Recordings | undefined,
): Promise<RecordingFault[]> {
  const faults: RecordingFault[] = [];
  for (const one of tools) {
    const fault = recordings === undefined ? noStore(one) : await faultOf(one, recordings);
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}

const noStore = ({ tool, source }: ReplayedTool): RecordingFault => ({
  tool,
  source,
  message: `the tool "${tool}" replays the run "${source}", and no store of runs was given`,
  hint: 'give one',
});

/** Refuses tools whose recordings are not there. `where` names what holds the tools, when no file with a line does. */
export async function refuseMissingRecordings(
  tools: readonly ReplayedTool[],
  recordings: Recordings | undefined,
  where: string,
): Promise<void> {
  const faults = await recordingFaults(tools, recordings);
  const [first] = faults;
  if (first === undefined) return;
  const list = faults.map(({ message, hint }) => `${message} (${hint})`).join('; ');
  const cure = 'Nothing was run, nothing was spent.';
  throw new ParlaneError('recording/missing', `${where}: ${list}.`, cure, { run: first.source, faults });
}

/** What a run's snapshot remembers of its tests' tools, so that a resume need not read all tests again. */
export const replayedJson = (replayed: readonly ReplayedTool[]): JsonObject =>
  replayed.length === 0 ? {} : { replayed: replayed.map(({ tool, source }) => ({ tool, source })) };

/** Refuses to play on a stored run, or a fork of it, whose tools name recordings that are gone. */
export async function refuseToPlayOn(store: Store, run: string, snapshot: Json): Promise<void> {
  const { replayed } = Object(rootOf(snapshot)) as { readonly replayed?: readonly ReplayedTool[] };
  const tools = [...specificationsOf(snapshot).values()].flatMap(replayedTools);
  await refuseMissingRecordings([...tools, ...(replayed ?? [])], new Recordings(store), `The run ${run}`);
}
