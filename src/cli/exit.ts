/**
 * How a command ends, as a number for scripts.
 *
 * @module
 */

export const EXIT = {
  ok: 0,
  /** It worked, and found something; or it could not do what was asked. */
  found: 1,
  /** It was called wrongly. */
  usage: 2,
  /** The ledger could not be reached. */
  unreachable: 3,
} as const;

/** The person called the command wrongly; the message says what would be right. */
export class UsageError extends Error {
  /** A line that helps, below the message. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The ledger is not there or does not answer. */
export class UnreachableError extends Error {}

/** What was asked for could not be done, for a reason that is nobody's mistake. Ends with 1. */
export class FailedError extends Error {}
