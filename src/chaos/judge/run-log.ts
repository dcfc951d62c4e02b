/**
 * One run of the agent, as its processes have written it down.
 *
 * @module
 */

import { type Line, linesOf, type Send } from "../log.ts";

/** A send, in the order of the run. */
export interface RunSend extends Send {
  /** Tells the processes of a run apart, from 0. */
  readonly process: number;
  /** Its reply was broken. */
  readonly isBroken: boolean;
}

export interface RunLog {
  readonly sends: readonly RunSend[];
  readonly processes: number;
  /** The fault of the run was hit: a run that broke nothing shows nothing. */
  readonly isHit: boolean;
  /** Some requests went by ways that cannot be watched. */
  readonly isBlind: boolean;
  /** Why watching failed, each reason once. */
  readonly failures: readonly string[];
}

/** `texts`: the log of each process. */
export function runLogOf(texts: readonly string[]): RunLog {
  const processes = texts.map((text) => linesOf(text));
  const all = processes.flat();
  const sends = processes.flatMap(sendsOf).sort((one, other) => one.at - other.at);
  return {
    sends,
    processes: processes.length,
    isHit: all.some(({ tag }) => tag === "broken"),
    isBlind: all.some(({ tag }) => tag === "blind"),
    failures: [...new Set(all.flatMap((line) => (line.tag === "failed" ? [line.why] : [])))],
  };
}

function sendsOf(lines: readonly Line[], process: number): readonly RunSend[] {
  const sends = lines.filter((line) => line.tag === "send");
  const broken = new Set(lines.flatMap((line) => (line.tag === "broken" ? [line.n] : [])));
  return sends.map((send) => ({
    ...send,
    process,
    isBroken: broken.has(send.n),
  }));
}
