/**
 * What users of tools need. What is not listed here or in `package.json` is private; the parts of a
 * store are in `holdfire/store`. How a call runs, from here to its result: `engine/run.ts`.
 *
 * @module
 */

export type { Holdfire, HoldfireOptions } from "./api.ts";
export { notApplied } from "./classify/not-applied.ts";
export { createHoldfire } from "./create.ts";
export type { OperationView } from "./engine/admin/operations.ts";
export type { GuardedTool } from "./engine/call/guarded-tool.ts";
export type {
  AttemptContext,
  CallOptions,
  ListedEffect,
  Plan,
  ToolKind,
  ToolOptions,
  ToolWithInput,
  ToolWithoutInput,
} from "./engine/define/definition.ts";
export type { JsonArguments } from "./engine/define/json-arguments.ts";
export {
  absent,
  cannotTell,
  committed,
  duplicated,
  inProgress,
  type Reading,
  type StateQuery,
} from "./engine/define/reading.ts";
export { type StandardSchema, typed } from "./engine/define/schema.ts";
export type { Outcome } from "./engine/operation/outcome.ts";
export type { Reply } from "./engine/outcome/reply.ts";
export {
  type AnyHoldfireError,
  ApprovalRequiredError,
  AttemptEndedError,
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
  OperationInProgressError,
  OutcomeUnknownError,
  ResultLostError,
  StoreUnavailableError,
  VolatileIntentError,
} from "./errors.ts";
export type { ApprovalAnswer, ApprovalRequest, Confirm } from "./gate/approval.ts";
export type { Approval } from "./gate/approvals.ts";
export { type HttpToolOptions, httpTool } from "./http/http-tool.ts";
export type { Json } from "./key/json.ts";
export { type Clock, systemClock } from "./lang/clock.ts";
export type {
  Effect,
  Licence,
  NotAppliedReason,
  UnknownReason,
  Verdict,
} from "./ledger/record.ts";
export type { EventName, HoldfireEvents, Listener } from "./observe/events.ts";
export { type Logger, logTo } from "./observe/log.ts";
export type { DriftFinding, DriftReport } from "./reconcile/drift-report.ts";
export type { ReconcileOptions, ReconcileReport } from "./reconcile/report.ts";
