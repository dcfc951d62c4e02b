/**
 * What a fault is to the battery: a script that is played to each stack and each class of service, and how it is told
 * that the fault was really met.
 *
 * @module
 */

import type { ReadFault, Fault as ServiceFault } from "../../src/testing/faulty-service.ts";
import type { Evidence, LoggedWrite, Wish } from "./judge.ts";
import type { Answer, Ask, Stack, Tool, ToolClass } from "./stack.ts";
import type { Spot, WriteSpot } from "./tool-body.ts";

export type Group = "network" | "reader" | "service" | "agent" | "process";

/** A process of the stack. */
export interface Process {
  kill(): Promise<void>;
  /** It stands still: nothing in it runs until it is thawed. */
  freeze(): void;
  thaw(): void;
}

export interface CallHow {
  /** @default the main process */
  readonly on?: Process | undefined;
  /** The process dies when the call comes here. */
  readonly die?: Spot | WriteSpot | undefined;
}

/** What a script can do. */
export interface Stage {
  readonly toolClass: ToolClass;
  /** From 0 up to 1, by the seed. */
  readonly random: () => number;
  /** The ask of a wish, as the agent makes it. */
  ask(wish: Wish, more?: Partial<Ask>): Ask;
  /** One call; what is told is kept for the judge. `undefined` if the process died before it told anything. */
  call(ask: Ask, how?: CallHow): Promise<Answer | undefined>;
  plan(...faults: readonly ServiceFault[]): Promise<void>;
  /** Every write for which no fault is planned gets this one; `undefined` takes it back. */
  always(fault: ServiceFault | undefined): Promise<void>;
  /** Every read gets this fault until the script ends; `undefined` takes it back. */
  alwaysRead(fault: ReadFault | undefined): Promise<void>;
  /** Waits until so many writes have arrived. */
  arrived(count: number): Promise<void>;
  wait(ms: number): Promise<void>;
  readonly main: Process;
  /** Another process of the same stack, on the same ledger. */
  another(): Promise<Process>;
  /** A new main process, on the ledger of the one that died. */
  restart(): Promise<void>;
  /** The stack's own way to settle what is open. The process may die in it. */
  reconcile(die?: WriteSpot): Promise<void>;
  /** Waits for the requests of branches that send late. */
  lateSends(): Promise<void>;
}

export interface Met {
  readonly evidence: Evidence;
  readonly readFaults: number;
  readonly kills: number;
  readonly freezes: number;
  /** Requests that a branch sent late, or tried to. */
  readonly lateSends: number;
  readonly stack: Stack;
}

export interface FaultCase {
  readonly id: string;
  readonly name: string;
  readonly group: Group;
  readonly wishes: readonly Wish[];
  /** What is different about the tool. */
  readonly tool?: Partial<Tool> | undefined;
  /** Its processes are its own: they are killed, or there are several. */
  readonly needsOwnProcess?: boolean | undefined;
  /** The caller does not come back after the script. */
  readonly callerIsGone?: boolean | undefined;
  /** Only in the full run. */
  readonly isFullOnly?: boolean | undefined;
  /** Why it is nothing for a class or a stack. */
  notFor?(toolClass: ToolClass, stack: Stack): string | undefined;
  play(stage: Stage, wishes: readonly Wish[]): Promise<void>;
  /** Whether the fault was met. A cell that did not meet it is void. */
  wasMet(met: Met): boolean;
}

export const wish = (name = "w1", item = "tea", isWanted = true): Wish => ({
  name,
  item,
  isWanted,
});

export const ONE: readonly Wish[] = [wish()];

/** Times of the battery, in milliseconds. */
export const TIMEOUT_MS = 1_500;
export const COMMITS_WITHIN_MS = 700;
/** How long an agent that was told of a failure waits before it asks once more. */
export const PAUSE_MS = 700;
export const DAY_MS = 86_400_000;

/** Whether a write met a fault of one of these kinds. */
export const metFault =
  (...tags: readonly ServiceFault["tag"][]): FaultCase["wasMet"] =>
  ({ evidence }) =>
    evidence.arrivals.some(({ fault }: LoggedWrite) => tags.some((tag) => fault?.tag === tag));

export const first = (wishes: readonly Wish[]): Wish => wishes[0] ?? wish();

/** The SDK's own code sends the request. */
export const notForSdk: NonNullable<FaultCase["notFor"]> = (_toolClass, stack) =>
  stack.packages.includes("stripe") ? "the SDK's own code looks at the status" : undefined;

/** A ledger in memory has nothing to say after a kill: what was still on its way may be sent once more. */
export const notInMemory: NonNullable<FaultCase["notFor"]> = (_toolClass, { isInMemory }) =>
  isInMemory ? "its ledger is for one process, and ends with it" : undefined;

/** What cases have in common that kill their processes, or have several. */
export const ownProcess: Pick<FaultCase, "group" | "wishes" | "needsOwnProcess" | "notFor"> = {
  group: "process",
  wishes: ONE,
  needsOwnProcess: true,
  notFor: notInMemory,
};
