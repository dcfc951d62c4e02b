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

/** Names a request. */
export interface RequestFacts {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
}

type Facts = OperationFacts | undefined;
type ErrorFacts = Partial<Pick<HoldfireError, "operation" | "reason" | "cause">>;

/** Base of all errors in `errors.ts`. Abstract, so every thrown error has a code of its own. */
export abstract class HoldfireError<
  Reason extends string | undefined = string | undefined,
  Operation extends Facts = Facts,
> extends Error {
  abstract readonly code: `ERR_HOLDFIRE_${string}`;
  /** Read by SDKs and frameworks as "do not retry this". */
  readonly status: number = 409;
  readonly isRetryable: boolean = false;
  /** The operation concerned, where there is one. */
  readonly operation: Operation;
  /** Why, as a stable value to switch on. */
  readonly reason: Reason;
  /**
   * What the last attempt of this call threw, as it was thrown; `undefined` where no attempt of this call threw, as in
   * an answer from the record. Its class and first line are in the message.
   */
  declare readonly cause: unknown;

  constructor(message: string, anchor: string, facts: ErrorFacts = {}) {
    super(`${sentence(message)} See node_modules/holdfire/docs/errors.md#${anchor}`);
    // Not enumerable, as the platform does it. What is absent is not there at all: some loops ask whether it is.
    if (facts.cause !== undefined) {
      Object.defineProperty(this, "cause", { value: facts.cause, configurable: true });
    }
    this.name = new.target.name;
    // Each class below gives what its own type says.
    this.operation = facts.operation as Operation;
    this.reason = facts.reason as Reason;
    Object.defineProperty(this, Symbol.for("langchain.errors.retryable"), { value: false });
  }
}

const sentence = (text: string): string => (/[.!?…]"?$/.test(text) ? text : `${text}.`);
