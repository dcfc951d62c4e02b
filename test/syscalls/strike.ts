/**
 * Attaches strace to a process that is about to call: to count its system calls, or to strike at one.
 * Strace counts from the moment it is attached, and so the boot of Node is not in the count.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type Child, type Ended, startChild } from "../processes/child.ts";
import type { CallOrder, Told } from "./caller.ts";
import { lastOf, numbersOf, type Point, SWEPT_CALLS } from "./points.ts";
import type { Swept } from "./tools.ts";

/** `kill`: before the call is made. `error`: the call is not made, and says `EIO`. */
export const FAULTS = ["kill", "error"] as const;
export type Fault = (typeof FAULTS)[number];

export interface Struck {
  /** What was really struck, as the trace has it; `undefined` if the point was never reached. */
  readonly point: Point | undefined;
  /** The numbers of the calls that would have been the right ones, as far as the trace goes. */
  readonly right: readonly number[];
  /** `undefined` if nobody was told. */
  readonly told: Told | undefined;
  readonly ended: Ended;
}

/** Far more than a call and a close take. */
const PATIENCE_MS = 60_000;

/** The trace of a call that nothing happens to, on all threads, and the one that it was made on. */
export async function traceCall(
  swept: Swept,
  file: string,
): Promise<{ readonly text: string; readonly main: number }> {
  const child = await readyToCall(swept);
  await call(child, ["-f", "-e", `trace=${SWEPT_CALLS.join(",")}`], file);
  return { text: await readFile(file, "utf8"), main: child.pid };
}

export async function strike(
  swept: Swept,
  { call: name, nth, target }: Point,
  fault: Fault,
  file: string,
): Promise<Struck> {
  const child = await readyToCall(swept);
  const how = fault === "kill" ? "signal=SIGKILL" : "error=EIO";
  const what = ["-e", `trace=${name}`, "-e", `inject=${name}:${how}:when=${nth}`];
  const { told, ended } = await call(child, what, file);
  const trace = await readFile(file, "utf8");
  return { point: lastOf(trace, fault), right: numbersOf(trace, target), told, ended };
}

async function readyToCall(swept: Swept): Promise<Child> {
  const child = startChild("./caller.ts", import.meta.url);
  const order: CallOrder = { tag: "call", swept };
  child.send(order);
  await child.next("ready");
  return child;
}

async function call(child: Child, what: readonly string[], file: string) {
  const common = ["-yy", "-s", "0", "-o", file, "-p", String(child.pid)];
  const tracer = spawn("strace", [...what, ...common], { stdio: ["ignore", "ignore", "pipe"] });
  const closed = once(tracer, "close");
  await attached(tracer.stderr);
  const patience = setTimeout(() => child.kill(), PATIENCE_MS);
  const telling = child.next<Told>("told").catch(() => undefined);
  child.send({ tag: "go" });
  const [told, ended] = await Promise.all([telling, child.ended]);
  clearTimeout(patience);
  await closed;
  return { told, ended };
}

/** Strace says so on stderr; nothing may begin before. */
export function attached(stderr: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      said += text;
      if (said.includes(" attached")) resolve();
    });
    stderr.once("end", () => reject(new Error(`strace did not attach: ${said}`)));
  });
}
