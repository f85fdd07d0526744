import type { CodeRunner } from '../domain/code-runner.ts';
import type { JsonObject } from '../domain/json.ts';
import type { LaneLimits } from '../domain/lane.ts';
import type { Provider } from '../domain/provider.ts';
import type { Clock } from '../platform/clock.ts';
import type { HttpClient } from './http-client.ts';
import type { PriceTable } from './prices.ts';

/** One provider as a config names it. */
export interface ProviderOptions {
  /** As written, for example `openai:chat:gpt-4.1` or `sim:strict?rpm=120`. */
  readonly id: string;
  readonly label?: string;
  /** The provider's own settings; unknown keys reach the wire or the program. */
  readonly config?: JsonObject;
  readonly delayMs?: number;
  readonly limits?: LaneLimits;
}

/** What a provider may know of its surroundings: everything that is not in the config comes through here. */
export interface ProviderContext {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from: the config file's own. */
  readonly basePath: string;
  /** Makes another provider, for those that pass calls on. */
  readonly resolve?: (options: ProviderOptions) => Provider;
  /** The run's one HTTP client; network providers cannot be made without it. */
  readonly http?: HttpClient;
  /** Prices; the bundled table unless told. */
  readonly prices?: PriceTable;
  /** Puts variables into a template, as the prompts do. */
  readonly render?: (template: string, vars: JsonObject) => string;
  /** Runs code of the config's author: response parsers and tool callbacks. */
  readonly code?: CodeRunner;
}

/** Knows one family of provider ids and makes providers of it. */
export interface ProviderFactory {
  matches(id: string): boolean;
  /** Throws a `ParlaneError` when the id or the config is wrong; sends nothing. */
  create(options: ProviderOptions, context: ProviderContext): Provider;
}
