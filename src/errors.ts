/**
 * Every error with a code `ERR_HOLDFIRE_…`. What a way out fails with has its class there: `CommandError`, `HttpAnswerError`, those
 * of `classify/mcp.ts`.
 *
 * Match on `code`: it is stable across versions and across duplicate installs. All of them look final
 * to an outer retry loop (`status` 409 or 400, `isRetryable` false, LangChain's symbol, no network `code`); what an
 * attempt threw is their `cause`.
 *
 * @module
 */

import { HoldfireError, type OperationFacts, type RequestFacts } from "./error-base.ts";
import type { NotAppliedReason, UnknownReason } from "./reasons.ts";

export { HoldfireError, type OperationFacts } from "./error-base.ts";

const named = ({ tool, key }: OperationFacts): string => `"${tool}" (key ${key})`;

/**
 * The effect may or may not have happened, and no reply or read has decided it. The operation stays in the
 * ledger until a read, `hf.reconcile` or a person settles it; the same call then returns the outcome.
 */
export class OutcomeUnknownError extends HoldfireError<UnknownReason, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_OUTCOME_UNKNOWN";

  constructor(operation: OperationFacts, reason: UnknownReason, hint?: string, cause?: unknown) {
    const message = `It is unknown whether ${named(operation)} happened (${reason}); holdfire does not send it again blindly.`;
    const facts = { operation, reason, cause };
    super(hint ? `${message} ${hint}` : message, "outcome-unknown", facts);
  }
}

interface NotAppliedFacts {
  readonly status?: number | undefined;
  /** What is known of it, in a sentence. */
  readonly because?: string | undefined;
  readonly cause?: unknown;
}

/** It is certain that nothing happened. A rejected call needs other arguments, `{ retry }` or a new scope. */
export class NotAppliedError extends HoldfireError<NotAppliedReason, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_NOT_APPLIED";
  /** The service's own status, if it answered. */
  readonly serviceStatus: number | undefined;

  constructor(operation: OperationFacts, reason: NotAppliedReason, told: NotAppliedFacts = {}) {
    const { status, because, cause } = told;
    const answer = status === undefined ? "" : `, status ${status}`;
    const message = `${named(operation)} was not applied (${reason}${answer}).`;
    super(because ? `${message} ${because}` : message, "not-applied", { operation, reason, cause });
    this.serviceStatus = status;
  }
}

/** Another caller or process owns it, and this caller stopped waiting: it may still happen. Check later. */
export class OperationInProgressError extends HoldfireError<undefined, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_IN_PROGRESS";

  constructor(operation: OperationFacts) {
    const message = `${named(operation)} is still in progress and may still happen. Check later, with the same call or hf.operations.get("${operation.id}").`;
    super(message, "in-progress", { operation });
  }
}

/** The same key was used for another intent, or the same call was made by another tool of this name. Nothing was sent. */
export class KeyConflictError extends HoldfireError<"other_intent" | "other_tool", OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_KEY_CONFLICT";

  constructor(operation: OperationFacts, reason: KeyConflictError["reason"] = "other_intent") {
    const byTool = `Another tool of this name, with another run or service, has made the call ${named(operation)}. Give the two different names.`;
    const byIntent = `The key of ${named(operation)} belongs to another intent. Use a different key.`;
    super(reason === "other_tool" ? byTool : byIntent, "key-conflict", { operation, reason });
  }
}

/** A person must approve it first. Nothing was sent; make the same call again after the approval. */
export class ApprovalRequiredError extends HoldfireError<"approval" | "drift", OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_APPROVAL_REQUIRED";

  constructor(operation: OperationFacts, reason: ApprovalRequiredError["reason"] = "approval") {
    const message = `${named(operation)} needs the approval of a person; nothing was sent. A person answers in npx holdfire inbox or by hf.approvals (operation ${operation.id}); then make the same call again.`;
    super(message, "approval-required", { operation, reason });
  }
}

/** A person denied it, or the tool's `onDrift` did. A person's denial is final for this operation. */
export class DeniedError extends HoldfireError<undefined, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_DENIED";

  constructor(operation: OperationFacts, by?: string) {
    const who = by === "onDrift" ? "The tool's onDrift" : "A person";
    const message = `${who} denied ${named(operation)}; nothing was sent. If a person asks for it again, use a new scope.`;
    super(message, "denied", { operation });
  }
}

/** Another write to the same resource is not settled. `blockedBy` names it; settle that one first. */
export class LaneBlockedError extends HoldfireError<undefined, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_LANE_BLOCKED";
  readonly resource: string;
  /** The id of the other operation. */
  readonly blockedBy: string;

  constructor(operation: OperationFacts, resource: string, blockedBy: string) {
    const message = `${named(operation)} was not sent: operation ${blockedBy} on "${resource}" is not settled. If it is under way, call again later. If it is unknown, settle it: make its own call again, run hf.reconcile(), or have a person call hf.operations.resolve("${blockedBy}", { as, by }).`;
    super(message, "lane-blocked", { operation });
    this.resource = resource;
    this.blockedBy = blockedBy;
  }
}

/** A write must know which request it belongs to. Nothing was sent. */
export class MissingScopeError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_MISSING_SCOPE";

  constructor(tool: string, line = 'Pass { scope: "conversation-7/turn-3" }') {
    const message = `"${tool}" writes, and no scope says which request it belongs to. ${line} or call it inside hf.scope(id, () => …). Use one id per request of a person or job, never a tool-call id.`;
    super(message, "missing-scope");
  }
}

/** It *is* committed, but its result was not kept and cannot be read again. Do not repeat it. */
export class ResultLostError extends HoldfireError<undefined, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_RESULT_LOST";

  constructor(operation: OperationFacts, hint?: string) {
    const advice = hint ?? "Do not repeat it; with readState the result can be read again";
    const message = `${named(operation)} is committed, but its result was not kept. ${advice}.`;
    super(message, "result-lost", { operation });
  }
}

/** The store did not answer before the send, or the record is damaged, so nothing was sent. `reason` is the step. */
export class StoreUnavailableError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_STORE_UNAVAILABLE";

  constructor(step: string, cause?: unknown) {
    const message =
      step === "damaged_record"
        ? "A record of the ledger that this call needs cannot be read: it is damaged, or a newer version of holdfire wrote it. Restore it from a copy of the ledger, or use that version; until then nothing is sent."
        : `The store did not answer at "${step}". Make the same call again when it is back.`;
    super(message, "store-unavailable", { reason: step, cause });
  }
}

/** Another process took the operation over and decides its outcome. */
export class LeaseLostError extends HoldfireError<undefined, OperationFacts> {
  override readonly code = "ERR_HOLDFIRE_LEASE_LOST";

  constructor(operation: OperationFacts) {
    const message = `Another process took over ${named(operation)}. Make the same call again: it returns the outcome.`;
    super(message, "lease-lost", { operation });
  }
}

/** An argument or option is not valid. Nothing was sent. `path` says where. */
export class InvalidInputError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_INVALID_INPUT";
  override readonly status: number = 400;
  /** Where the invalid value is, e.g. `intent.items[3].price`. */
  readonly path: string;

  constructor(path: string, rule: string) {
    super(`${path}: ${rule}`, "invalid-input");
    this.path = path;
  }
}

/** The intent contains an id that changes with every try (a tool-call id): it would never match again. */
export class VolatileIntentError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_VOLATILE_INTENT";
  override readonly status: number = 400;
  readonly path: string;

  constructor(tool: string, path: string) {
    const message = `"${tool}": ${path} holds a tool-call, run or message id, which changes with every try. Leave it out of the intent.`;
    super(message, "volatile-intent");
    this.path = path;
  }
}

/** One attempt sent the same request more than once: another layer retries as well. See `ownRetries`. */
export class HiddenRetryError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_HIDDEN_RETRY";
  /** What was sent again, without its query: `POST https://api.example/v1/pay`. */
  readonly request: string;

  constructor(request: string, operation?: OperationFacts) {
    const message = `${request} was sent again inside one attempt: another layer retries as well. Switch its retries off, with ownRetries if it is a client.`;
    super(message, "hidden-retry", { operation });
    this.request = request;
  }
}

/** A request was stopped: its attempt has ended, or its time is over. Await in `run` what it starts; `hf.detached` is for other work. */
export class AttemptEndedError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_ATTEMPT_ENDED";
  /** What was stopped, without its query: `POST https://api.example/v1/pay`. */
  readonly request: string;
  /** It was under way when the time of its attempt ran out, and was torn down: it may have taken effect. */
  readonly wasSent: boolean;

  constructor({ method, origin, path }: RequestFacts, wasSent = false) {
    const request = `${method} ${origin}${path}`;
    const message = `${request} was ${wasSent ? "torn down, and may have taken effect: the time that was noted for its attempt is over" : "not sent: the attempt it belongs to has ended. Await in run what run starts; start other work with hf.detached"}.`;
    super(message, "attempt-ended");
    this.request = request;
    this.wasSent = wasSent;
  }
}

/** `close()` was called before. */
export class ClosedError extends HoldfireError {
  override readonly code = "ERR_HOLDFIRE_CLOSED";

  constructor() {
    super("This holdfire or its store is closed. Create a new one.", "closed");
  }
}

/** All errors as one union: `switch (error.code)` narrows it. */
export type AnyHoldfireError =
  | OutcomeUnknownError
  | NotAppliedError
  | OperationInProgressError
  | KeyConflictError
  | ApprovalRequiredError
  | DeniedError
  | LaneBlockedError
  | MissingScopeError
  | ResultLostError
  | StoreUnavailableError
  | LeaseLostError
  | InvalidInputError
  | VolatileIntentError
  | HiddenRetryError
  | AttemptEndedError
  | ClosedError;

/** Whether it is an error of holdfire, also of another copy of the package. */
export function isHoldfireError(error: unknown): error is AnyHoldfireError {
  if (typeof error !== "object" || error === null) return false;
  try {
    const code = Object.getOwnPropertyDescriptor(error, "code")?.value;
    return typeof code === "string" && code.startsWith("ERR_HOLDFIRE_");
  } catch {
    return false;
  }
}
