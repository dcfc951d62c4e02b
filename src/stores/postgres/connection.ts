/**
 * What the store needs of a database client, whichever it is.
 *
 * @module
 */

/** A row by position: a user's client may rename columns, and parse types in its own way. */
export type Row = readonly (string | null)[];

export interface Statement {
  readonly text: string;
  /** Prepared under this name; without one it is planned each time. */
  readonly name?: string | undefined;
}

/** Where one statement can be run: a pool, or one transaction. */
export interface Session {
  /** All values are text; the statement casts them, and casts what it returns to text. */
  run(statement: Statement, values: readonly (string | null)[]): Promise<readonly Row[]>;
}

export interface Connection extends Session {
  /** Runs several statements as one transaction, without values. */
  script(text: string): Promise<void>;
  /**
   * Listens on a connection of its own. `restarted` is called when it listens, and again after each
   * loss; what was said in between is lost. Absent where no connection can be spared.
   */
  readonly listen?: ((channel: string, hear: Hear) => Promise<Listening>) | undefined;
}

export interface Hear {
  heard(payload: string): void;
  restarted(): void;
  /** It listens no more, and does not try again. */
  ended(): void;
}

export interface Listening {
  stop(): Promise<void>;
}
