/**
 * What users of tools need. What is not listed here or in `package.json` is private; the parts of a
 * store are in `holdfire/store`. How a call runs, from here to its result: `engine/run.ts`.
 *
 * @module
 */

/*
 * `api.ts` has the types, `create.ts` wires the parts, `holdfire.ts` has the methods of `hf`. The folders beside this file, in the
 * order in which they may import: a folder knows those above it; only testing, cli and console know the stores.
 *
 *   lang          what the language lacks: clock, async context, safe reads of hostile values
 *   key           names an operation: canonical form, digest, key, scope, turn
 *   ledger        what is remembered: records, legal moves, the contract of a store
 *   stores        where it is kept: memory, SQLite, Redis, Postgres; what a new one needs is listed in `ledger/store.ts`
 *   classify      what an answer proves
 *   wire          sees and counts the requests that leave in an attempt, and stops late ones
 *   observe       events, log lines, OpenTelemetry
 *   engine        one operation, from claim to outcome
 *   gate          what stands before a claim: drift, approvals, lanes; says why a call is held
 *   reconcile     settles open operations without a caller; compares settled ones with the service (`hf.driftReport`)
 *   describe      an operation in sentences for people, at the command line and in the console
 *   http-tool     `httpTool`: a tool that is one HTTP request
 *   recipes       whole tools for known services
 *   integrations  one folder per subpath: frameworks, model SDKs, HTTP clients, MCP, programs, durable engines; a framework's
 *                 is called an adapter; what a new one needs is listed in `docs/write-an-adapter.md`
 *   testing       public: contract suites, the faulty service, `proveTool`
 *   gateway       `holdfire mcp`: a process between an MCP host and its server
 *   chaos         `holdfire chaos`: breaks one reply to an agent, and shows what it sends again
 *   console       the ledger in a browser
 *   cli           the command `holdfire`
 *
 * Words with a special meaning (intent, scope, operation, attempt, licence, …) are in `docs/glossary.md`.
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
export type { Approval } from "./gate/approvals.ts";
export type { Confirm } from "./gate/ask-person.ts";
export type { ApprovalAnswer } from "./gate/decision.ts";
export type { ApprovalRequest } from "./gate/question.ts";
export { type HttpToolOptions, httpTool } from "./http-tool/http-tool.ts";
export type { Json } from "./key/json.ts";
export { type Clock, systemClock } from "./lang/clock.ts";
export type { EventName, HoldfireEvents, Listener } from "./observe/events.ts";
export { type Logger, logTo } from "./observe/log.ts";
export type {
  Effect,
  Licence,
  NotAppliedReason,
  UnknownReason,
  Verdict,
} from "./reasons.ts";
export type { DriftFinding, DriftReport } from "./reconcile/drift-report.ts";
export type { ReconcileOptions, ReconcileReport } from "./reconcile/report.ts";
