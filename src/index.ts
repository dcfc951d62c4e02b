/**
 * The public surface. What is not listed here or in `package.json` is private.
 *
 * @module
 */

export { createHoldfire } from "./create.ts";
export type {
  OperationQuery,
  Operations,
  OperationView,
  Resolution,
} from "./engine/admin/operations.ts";
export type { PruneOptions } from "./engine/admin/prune.ts";
export type {
  OperationStatus,
  StatusQuestion,
  StatusReply,
  StatusTool,
} from "./engine/admin/status-tool.ts";
export type { GuardedTool } from "./engine/call/guarded-tool.ts";
export type {
  AttemptContext,
  CallOptions,
  EffectSpan,
  ListedEffect,
  OnDrift,
  Plan,
  PlannedChange,
  Run,
  ToolDefinition,
  ToolKind,
  ToolOptions,
  ToolWithInput,
  ToolWithoutInput,
} from "./engine/define/definition.ts";
export type { PlannedCall, PlannedEffect } from "./engine/define/planned-call.ts";
export {
  absent,
  cannotTell,
  committed,
  duplicated,
  inProgress,
  type Reading,
  type StateQuery,
} from "./engine/define/reading.ts";
export { type Input, type StandardSchema, type Typed, typed } from "./engine/define/schema.ts";
export type { PayloadOptions, RetryOptions, Surroundings } from "./engine/define/settings.ts";
export type { Outcome, OutcomeStatus } from "./engine/operation/outcome.ts";
export type { Reply } from "./engine/outcome/reply.ts";
export {
  type AnyHoldfireError,
  ApprovalRequiredError,
  ClosedError,
  DeniedError,
  HiddenRetryError,
  HoldfireError,
  InvalidInputError,
  isHoldfireError,
  KeyConflictError,
  LaneBlockedError,
  LeaseLostError,
  MissingScopeError,
  NotAppliedError,
  type OperationFacts,
  OperationInProgressError,
  OutcomeUnknownError,
  ResultLostError,
  StoreUnavailableError,
  VolatileIntentError,
} from "./errors.ts";
export type { ApprovalAnswer, ApprovalRequest, Confirm } from "./gate/approval.ts";
export type { Answerer, Approval, Approvals } from "./gate/approvals.ts";
export type { Drift } from "./gate/drift.ts";
export type { Holdfire, HoldfireOptions, RunOnce } from "./holdfire.ts";
export type { Json } from "./key/json.ts";
export { type Clock, systemClock } from "./lang/clock.ts";
export type {
  Answer,
  AttemptNote,
  Effect,
  Evidence,
  Licence,
  NotAppliedReason,
  OperationRecord,
  Rejection,
  State,
  StateTag,
  Stored,
  UnknownReason,
  Verdict,
} from "./ledger/record.ts";
export type {
  Change,
  Found,
  Incarnation,
  LaneChange,
  LaneRecord,
  LeaseChange,
  ListQuery,
  Page,
  Pruned,
  PruneQuery,
  Store,
  StoredLane,
  StorePromise,
  Swapped,
} from "./ledger/store.ts";
export type { Mark, Witness } from "./ledger/witness.ts";
export type { EventName, HoldfireEvents, Listener } from "./observe/events.ts";
export { type Logger, type LogLevel, type LogOptions, logTo } from "./observe/log.ts";
export type {
  DriftCoverage,
  DriftFinding,
  DriftOptions,
  DriftProgress,
  DriftReport,
  NotCompared,
} from "./reconcile/drift-report.ts";
export type {
  ReconcileOptions,
  ReconcileProgress,
  ReconcileReport,
  StillUnknown,
  ToolChoice,
} from "./reconcile/report.ts";
