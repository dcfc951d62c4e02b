/**
 * What all errors of `errors.ts` have in common.
 *
 * @module
 */

/** Names the operation of an error, an outcome or an event. */
export interface OperationFacts {
  readonly tool: string;
  /** The operation's id in the ledger. */
  readonly id: string;
  /** The key the service saw. */
  readonly key: string;
}

type ErrorFacts = Partial<Pick<HoldfireError, "operation" | "reason" | "lastError">>;

/** Base of all errors below. Abstract, so every thrown error has a code of its own. */
export abstract class HoldfireError extends Error {
  abstract readonly code: `ERR_HOLDFIRE_${string}`;
  /** Read by SDKs and frameworks as "do not retry this". */
  readonly status: number = 409;
  readonly isRetryable: boolean = false;
  /** The operation concerned, where there is one. */
  readonly operation: OperationFacts | undefined;
  /** Why, as a stable value to switch on. */
  readonly reason: string | undefined;
  /** What the last attempt of this call threw. Not enumerable, so not in logs. */
  declare readonly lastError: unknown;

  constructor(message: string, anchor: string, facts: ErrorFacts = {}) {
    super(`${sentence(message)} See docs/errors.md#${anchor}`);
    this.name = new.target.name;
    this.operation = facts.operation;
    this.reason = facts.reason;
    Object.defineProperty(this, "lastError", { value: facts.lastError, enumerable: false });
    Object.defineProperty(this, Symbol.for("langchain.errors.retryable"), { value: false });
  }
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
