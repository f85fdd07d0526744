/** Batches of conversations: the specifications are in the snapshot, everything else is in the cases. */
import { ParlaneError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { realClock } from '../../platform/clock.ts';
import { conversationRunner } from '../../run/conversation-case.ts';
import { openConversationHost } from '../../run/conversation-host.ts';
import { Lanes } from '../../run/lanes.ts';
import { specificationsOf } from '../../run/plan-conversations.ts';
import { Recordings } from '../../run/recorded-tools.ts';
import type { Store } from '../../store/store.ts';
import { checkBatchFile, writeBatchFile } from '../batch-files.ts';
import type { CliContext } from '../cli-context.ts';
import type { Revived } from '../revivers.ts';

export async function revive(snapshot: Json, context: CliContext, store: Store): Promise<Revived> {
  const host = openConversationHost({ clock: realClock, env: context.env, folder: context.cwd });
  return {
    provider: host.provider,
    lanes: ({ onEvent }) => new Lanes({ clock: realClock, onEvent }),
    runners: {
      prompt: () => Promise.reject(new ParlaneError('batch/prompt-case', 'A batch holds conversations only.', '')),
      conversation: conversationRunner({
        specifications: specificationsOf(snapshot),
        ports: host.ports,
        recordings: new Recordings(store),
        grading: host.grading,
      }),
    },
    outputs: {
      check: (path) => checkBatchFile(path, context.cwd),
      write: (path, { run }) => writeBatchFile(path, run, store, context),
    },
    close: host.close,
  };
}
