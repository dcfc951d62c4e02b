/**
 * The server, as the gateway sees it: lines that come, lines that go, and an end.
 *
 * @module
 */

import type { Line } from "./lines.ts";

export interface Upstream {
  readonly lines: AsyncIterable<Line>;
  /** Each message goes its own way, and `send` resolves when it was answered: others need not wait for it. */
  readonly isConcurrent?: boolean | undefined;
  /** Resolves when the line has left. Rejects with `McpNotSentError` if nothing of it can have arrived. */
  send(line: string | Buffer): Promise<void>;
  /** The host has ended its input: the server is told so. */
  end(): void;
  /** Hands on a signal that the gateway was sent. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code that the gateway is to end with. */
  readonly ended: Promise<number>;
}

/** The host does not want the answer any more. What was asked for may still be done. */
export class RequestCancelledError extends Error {
  override readonly name = "RequestCancelledError";

  constructor(cause: unknown) {
    super("The host has cancelled the request.", { cause });
  }
}
