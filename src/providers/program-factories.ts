import { echoFactory } from './echo/echo-factory.ts';
import { execFactory } from './exec/exec-factory.ts';
import { moduleFactory } from './module/module-factory.ts';
import type { ProviderFactory } from './provider-factory.ts';
import { pythonFactory, rubyFactory } from './script/script-factory.ts';
import { sequenceFactory } from './sequence/sequence-factory.ts';
import { simFactory } from './sim/sim-provider.ts';

/** Every family of providers that needs no network of ours: the simulated ones and the user's own programs. */
export const programFactories: readonly ProviderFactory[] = [
  simFactory,
  echoFactory,
  sequenceFactory,
  execFactory,
  pythonFactory,
  rubyFactory,
  moduleFactory,
];
