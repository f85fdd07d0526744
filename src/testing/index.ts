export type { Behaviour, BehaviourRule } from './behaviour.ts';
export { type FaultGroup, type FaultKind, faultKinds } from './fault-kinds.ts';
export {
  type Cell,
  type ConversationRow,
  cellOf,
  type FaultMatrix,
  faultMatrix,
  type HttpRow,
  type MatrixAdapter,
  matrixAdapters,
  type ReactionKind,
  type WireReaction,
} from './fault-matrix.ts';
export type { FaultPlan, FaultSpec } from './fault-plan.ts';
export { type FaultServer, type FaultServerOptions, startFaultServer } from './fault-server.ts';
export { type LedgerEntry, type PaidTwice, paidTwice } from './ledger.ts';
export type { HeaderStyle, RetryStyle } from './limit-headers.ts';
export type { ServerLimits } from './limit-scope.ts';
export type { ReplySource, ServerReply, ServerToolCall, ServerUsage } from './replies.ts';
export type { SeenRequest } from './seen-request.ts';
export { type SpawnedFaultServer, type SpawnOptions, spawnFaultServer } from './spawn-fault-server.ts';
export type { KeyStatistics, ServerStatistics } from './statistics.ts';
export type { WireName } from './wires/wire.ts';
