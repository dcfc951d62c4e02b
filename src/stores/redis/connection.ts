/**
 * What the store needs of a Redis client, whichever it is: scripts, a few plain commands, channels.
 *
 * @module
 */

export interface Connection {
  readonly kind: "single" | "cluster";
  /** Whether the client follows a failover by itself, to a server that may know less. */
  readonly failsOver: boolean;
  /** Whether the client was closed, or never connected: it would wait for ever, or refuse. */
  isClosed(): boolean;
  /** Runs a script on the server that has the first key. */
  run(
    command: "EVAL" | "EVALSHA",
    script: string,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<unknown>;
  /** Every server that takes writes, to be asked about itself. */
  primaries(): Promise<readonly PlainCommand[]>;
  /** Channels, on a connection of their own; absent where the client has none to give. */
  readonly subscriber?: (() => Subscriber) | undefined;
}

export type PlainCommand = (name: string, ...args: readonly string[]) => Promise<unknown>;

export interface Subscriber {
  subscribe(channel: string, heard: (message: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /** Ends what was opened for the channels, and nothing of the user's. Waits for nobody. */
  close(): void;
}
