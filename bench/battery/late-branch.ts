/**
 * A branch of the tool that sends late: its caller gives up at the timeout, and nothing tells the branch. It happens
 * once for each item in a process.
 *
 * @module
 */

import type { Tool } from "./stack.ts";

/** How long after the timeout the request leaves: before a stack that looks for it may call it absent. */
const LATE_MS = 600;

const begun = new Map<string, Promise<void>>();

/** Whether this send is the late one; then it is under way, and its caller hears of a timeout when that is over. */
export function leavesLate(tool: Tool, item: string, send: () => Promise<unknown>): boolean {
  if (tool.also !== "late_branch" || begun.has(item)) return false;
  const late = after(tool.timeoutMs + LATE_MS).then(send);
  begun.set(
    item,
    late.then(
      () => {},
      () => {},
    ),
  );
  return true;
}

export async function timesOut({ timeoutMs }: Tool): Promise<never> {
  await after(timeoutMs);
  throw new DOMException("The tool was given up.", "TimeoutError");
}

/** Waits for the late requests of this process, and says how many there were, whether or not they were let out. */
export async function lateSends(): Promise<number> {
  await Promise.all(begun.values());
  return begun.size;
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
