/**
 * What the battery asks of a stack, and what it tells every stack: one host program, one tool, one service. A stack
 * is what stands between the host and the tool.
 *
 * @module
 */

import type { RetryOptions } from "../../src/engine/define/settings.ts";
import type { ToolClass as ServiceClass } from "../../src/testing/faulty-service.ts";

export type ToolClass = Exclude<ServiceClass, "keyed_readable">;

export const TOOL_CLASSES: readonly ToolClass[] = [
  "keyed",
  "readable",
  "conditional",
  "neither",
  "liar",
];

/** What the author of a tool knows of its service. The same for every stack. */
export interface Tool {
  readonly class: ToolClass;
  readonly url: string;
  /** When a request is given up, in milliseconds. */
  readonly timeoutMs: number;
  /** The service commits within this, after a request has ended, or never; the lag of reads included. */
  readonly commitsWithinMs: number;
  /** How long the service remembers a key. */
  readonly keyMemoryMs: number;
  /** `none`: all arguments are part of what is wanted. @default the note is wording */
  readonly wording?: "none" | undefined;
  /** A usual mistake in the code of the tool. */
  readonly mistake?: "swallows_status" | "reads_503_as_empty" | undefined;
  /** What the tool does beside its effect. */
  readonly also?: "telemetry" | "oauth" | "late_branch" | "send_queue" | undefined;
}

/** One thing that a person wants once, and how the agent asks for it. */
export interface Ask {
  /** The name of the wish: for the judge, and in no request. */
  readonly wish: string;
  readonly item: string;
  readonly cents: number;
  /** Wording: no part of what is wanted. */
  readonly note: string;
  readonly thread: string;
  /** The request of a person under which it is asked for. */
  readonly turn: string;
  /** Wanted once more, on purpose, under the same request. */
  readonly again?: string | undefined;
}

/** What a caller hears: that it is done, that it failed, or that it may have happened. */
export type Said = "done" | "failed" | "unknown";

export interface Answer {
  readonly said: Said;
  /** In the stack's own words. */
  readonly words: string;
  /** The stack says that the same call may be made again, although it is not known what became of it. */
  readonly askAgain?: boolean | undefined;
}

/** Where a stack may keep what it has to remember. */
export interface Place {
  /** Of one cell; part of every name that is shared. */
  readonly name: string;
  /** The same in all processes of one cell that keep one ledger. */
  readonly ledger: string;
  readonly folder: string;
  readonly redisUrl?: string | undefined;
  readonly postgresUrl?: string | undefined;
  readonly schema: string;
  /** Times other than the battery's, for holdfire: the machine is so busy that its short ones mean nothing. */
  readonly retry?: RetryOptions | undefined;
  readonly restate?: { readonly ingress: string; readonly admin: string } | undefined;
}

export interface OpenStack {
  /** One call of the tool, as the agent's host makes it. */
  call(ask: Ask): Promise<Answer>;
  /** What the stack offers to settle what was left open, if anything. */
  reconcile(): Promise<void>;
  /** What the stack's own records say of a wish now; `undefined` if they say nothing of it. */
  standing(ask: Ask): Promise<Said | undefined>;
  /** The same of all wishes at once, by their names, where the records can be listed. */
  standings?(): Promise<Readonly<Record<string, Said>>>;
  close(): Promise<void>;
}

export interface Stack {
  readonly name: string;
  /** In one sentence: what it is and how it is set up. */
  readonly says: string;
  /** The packages whose versions count. */
  readonly packages: readonly string[];
  /** Whether it reads the state of a service. */
  readonly reads: boolean;
  readonly isHoldfire: boolean;
  /** Its ledger ends with its process. */
  readonly isInMemory?: boolean | undefined;
  /** What must be running for it. */
  readonly needs: readonly ("redis" | "postgres" | "restate")[];
  /** Why it cannot be used with a class, if it cannot. */
  refuses?(toolClass: ToolClass): string | undefined;
  setUp(tool: Tool, place: Place): Promise<OpenStack>;
}

/** A key for one wish under one request, for stacks that are given theirs. */
export const keyOf = ({ item, cents, thread, turn, again = "" }: Ask): string =>
  [thread, turn, again, item, String(cents)].join("/");

/** A stack that keeps no records, or none that can be asked. */
export const KEEPS_NOTHING: Pick<OpenStack, "reconcile" | "standing" | "close"> = {
  async reconcile() {},
  async standing() {
    return undefined;
  },
  async close() {},
};

export const done = (words = "done"): Answer => ({ said: "done", words });

/** An error that does not say that it may have happened is heard as a failure. */
export const failed = (error: unknown): Answer => ({ said: "failed", words: wordsOf(error) });

export const unknown = (error: unknown): Answer => ({ said: "unknown", words: wordsOf(error) });

/** Another caller is at it: come back later. */
export const inProgress = (error: unknown): Answer => ({ ...unknown(error), askAgain: true });

const LONGEST = 200;

function wordsOf(error: unknown): string {
  const text = error instanceof Error ? `${error.constructor.name}: ${error.message}` : `${error}`;
  return text.split("\n", 1)[0]?.slice(0, LONGEST) ?? "";
}
