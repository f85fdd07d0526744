/** How a run behaves; kept with the run, so that a resume behaves the same. */
import type { Millis, RunId, UsdMicros } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';

export interface RunSettings {
  /** `global`: a case with registers or history makes all prompt cases sequential. `conversation`: only where it matters. */
  readonly serialize: 'global' | 'conversation';
  /** Most working time of a prompt case, grading included; queueing and back-off do not count. */
  readonly timeoutMs?: Millis;
  readonly maxDurationMs?: Millis;
  /** Whose words the rows have that the time limit left open; our own unless told. */
  readonly wording?: 'promptfoo';
  readonly budgetUsdMicros?: UsdMicros;
  /** A run that only waits for lanes parked longer than this stops. */
  readonly maxWaitMs: Millis;
  /** How long answers in flight are awaited when the run stops. */
  readonly graceMs: Millis;
  /** Result files that were asked for when it was started, so that whoever resumes it writes them too. */
  readonly outputs?: readonly string[];
  /** The run that its cases come from: of a retry or a rescore. */
  readonly from?: RunId;
  /** What was done with them. */
  readonly again?: 'retry' | 'rescore';
}

export const defaultSettings: RunSettings = { serialize: 'global', maxWaitMs: 15 * 60_000, graceMs: 1_000 };

export const settingsJson = (settings: RunSettings): Json => ({ ...settings }) as Json;

/** The same for a run that comes of another: that one's files are not its own. */
export function inheritedSettings(options: Json): RunSettings {
  const { outputs: _, from: __, again: ___, ...settings } = settingsOf(options);
  return settings;
}

export const settingsOf = (options: Json): RunSettings => ({
  ...defaultSettings,
  ...(options as Partial<RunSettings>),
});
