/** A fork of a conversation: turns 1..N stay as recorded, then another prompt, model or line. */
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { CaseIndex, RunId } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { type SpecificationSnapshot, snapshotOf } from '../prompts/load-specification.ts';
import { entryOf } from '../prompts/specification.ts';
import { templateFault } from '../prompts/template.ts';
import { type ConversationDetail, detailOf, snapshotFor } from './conversation-case.ts';
import { type ForkRequest, keepTurns } from './fork-case.ts';
import { specificationsJson, specificationsOf } from './plan-conversations.ts';

export interface ConversationFork {
  readonly index: CaseIndex;
  /** The last turn that stays; both of its entries are kept. */
  readonly after: number;
  /** New text for an agent's prompt. */
  readonly agentPrompt?: string;
  /** Whose prompt; the entry agent's unless told. */
  readonly agent?: string;
  /** Another model for the agents. */
  readonly model?: string;
  /** What the client says in the next turn. */
  readonly clientSays?: string;
  readonly tries?: number;
}

export interface PreparedFork {
  readonly request: ForkRequest;
  /** The fork's snapshot as its runner needs it. */
  readonly snapshot: Json;
}

/** Works out what a fork changes. Throws when the case is no conversation or the change makes no sense. */
export function prepareFork(parent: RunId, original: Case, parentSnapshot: Json, fork: ConversationFork): PreparedFork {
  if (original.kind !== 'conversation') {
    throw new ParlaneError(
      'fork/not-a-conversation',
      `Case #${original.index} is not a conversation.`,
      'Only conversations have turns to fork after.',
    );
  }
  if (!Number.isInteger(fork.after) || fork.after < 0)
    throw new ParlaneError(
      'fork/after',
      `"after" is ${fork.after}.`,
      'It must be the number of a turn, or 0 to keep none.',
    );
  const detail = detailOf(original);
  const specifications = specificationsOf(parentSnapshot);
  const snapshot = snapshotFor({ specifications }, detail.specification);
  const changed =
    fork.agentPrompt === undefined
      ? snapshot
      : withPrompt(snapshot, fork.agent ?? entryOf(snapshot.specification), fork.agentPrompt);
  const note: JsonObject = {
    after: fork.after,
    ...(changed === snapshot ? {} : { specifications: specificationsJson([changed]) }),
    ...(fork.model === undefined ? {} : { model: fork.model }),
    ...(fork.clientSays === undefined ? {} : { client_says: fork.clientSays }),
  };
  const next = changeDetail(detail, changed, fork);
  return {
    request: {
      parent,
      index: fork.index,
      keep: keepTurns(fork.after),
      change: (one) =>
        ({
          ...one,
          ...(one.kind === 'conversation' ? { detail: next as unknown as Json } : {}),
          ...(fork.model === undefined ? {} : { column: { ...one.column, provider: fork.model } }),
        }) as Case,
      ...(fork.tries === undefined ? {} : { tries: fork.tries }),
      note,
    },
    snapshot: { parent: parentSnapshot, note },
  };
}

function changeDetail(
  detail: ConversationDetail,
  snapshot: SpecificationSnapshot,
  fork: ConversationFork,
): ConversationDetail {
  const { recorded: _, ...rest } = detail;
  return {
    ...rest,
    specification: snapshot.hash,
    models:
      fork.model === undefined
        ? detail.models
        : { ...detail.models, agent: { ...detail.models.agent, provider: fork.model } },
    ...(fork.clientSays === undefined
      ? {}
      : { clientSays: { ...detail.clientSays, [fork.after + 1]: fork.clientSays } }),
  };
}

function withPrompt(snapshot: SpecificationSnapshot, agent: string, prompt: string): SpecificationSnapshot {
  const { specification, folder } = snapshot;
  const old = specification.agents[agent];
  if (old === undefined) {
    throw new ParlaneError(
      'fork/unknown-agent',
      `The specification has no agent "${agent}".`,
      `It has ${Object.keys(specification.agents).join(', ')}.`,
    );
  }
  const fault = templateFault(prompt);
  if (fault !== undefined)
    throw new ParlaneError(
      'fork/prompt',
      `The new prompt is not a template: ${fault}.`,
      'Correct it; nothing was sent.',
    );
  return snapshotOf({ ...specification, agents: { ...specification.agents, [agent]: { ...old, prompt } } }, folder);
}
