/**
 * What a command is, and how it ends: a name, words for its help, options, and a function that returns an exit
 * code.
 *
 * @module
 */

import type { Terminal } from "./terminal.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string | undefined;
  /** May be given several times. */
  readonly multiple?: boolean | undefined;
  /** What stands for its value in the help, e.g. `URL`. */
  readonly value?: string | undefined;
  /** One line for the help. */
  readonly about: string;
}

export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O extends { readonly type: "boolean" }
  ? boolean
  : O extends { readonly multiple: true }
    ? readonly string[]
    : string | undefined;

/** What was typed, checked against the options of the command. */
export interface Args<O extends Options = Options> {
  readonly values: { readonly [K in keyof O]: Value<O[K]> };
  readonly positionals: readonly string[];
  /** What stands after `--`, for commands that run another program. */
  readonly rest: readonly string[];
}

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Names of what it takes, in order: `KEY`, `[KEY]`, `KEY...`. */
  readonly takes: readonly string[];
  /** What may follow `--`, e.g. `PROGRAM ARGS...`. Without it, `--` only ends the options. */
  readonly rest?: string | undefined;
  /** Paragraphs for its help: what it does, what its exit code says. */
  readonly about: readonly string[];
  readonly options: Options;
  run(args: Args, terminal: Terminal): Promise<number>;
}

/** What every command takes. */
const GENERAL = {
  json: { type: "boolean", about: "Prints JSON, for programs." },
  help: { type: "boolean", short: "h", about: "Prints this help." },
} as const;

/** What a command takes that uses the ledger. */
export const LEDGER = {
  store: {
    type: "string",
    value: "URL",
    about: "The ledger: a SQLite path, redis://… or postgres://…",
  },
  tenant: { type: "string", value: "NAME", about: 'Whose ledger. Default "default".' },
  prefix: {
    type: "string",
    value: "NAME",
    about: 'Redis: what the keys begin with. Default "hf".',
  },
  schema: { type: "string", value: "NAME", about: "Postgres: the schema of the tables." },
  table: { type: "string", value: "NAME", about: "Postgres: the name of the table." },
} as const;

/** What a command takes that needs the user's own tools. */
export const CONFIG = {
  config: {
    type: "string",
    value: "FILE",
    about: "A module with your holdfire and its tools, e.g. holdfire.config.ts.",
  },
} as const;

type Definition<O extends Options> = Omit<Command, "options" | "run"> & {
  readonly options: O;
  readonly run: (args: Args<O & typeof GENERAL>, terminal: Terminal) => Promise<number>;
};

/** Checks the types of a command and adds the options that all have. */
export function defineCommand<const O extends Options>(definition: Definition<O>): Command {
  const options: Options = { ...definition.options, ...GENERAL };
  return { ...definition, options, run: definition.run as unknown as Command["run"] };
}

export const EXIT = {
  ok: 0,
  /** It worked, and found something; or it could not do what was asked. */
  found: 1,
  /** Wrong usage. */
  usage: 2,
  /** The ledger could not be reached. */
  unreachable: 3,
} as const;

/** Wrong usage; the message says what would be right. */
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

/** What was asked for could not be done, though the command was called correctly. Ends with 1. */
export class FailedError extends Error {
  /** A line that helps, below the message. */
  readonly hint: string | undefined;
  /** What could have been meant, for `--json`. */
  readonly candidates: readonly object[] | undefined;

  constructor(
    message: string,
    { hint, candidates }: { readonly hint?: string; readonly candidates?: readonly object[] } = {},
  ) {
    super(message);
    this.hint = hint;
    this.candidates = candidates;
  }
}
