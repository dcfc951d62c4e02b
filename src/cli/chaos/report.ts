/**
 * What a chaos test found, as data: what `--json` prints, and what the lines for people are made of.
 *
 * @module
 */

import { relative } from "node:path";
import { compareRuns, nameOf, type SentAgain, writesOf } from "../../chaos/judge/compare-runs.ts";
import type { Layer, LayerName } from "../../chaos/judge/name-layer.ts";
import type { Fault } from "../../chaos/orders.ts";
import { EXIT } from "../command.ts";
import type { AgentRun } from "./run-agent.ts";

/** `void`: a reply was not broken, or a run was stopped before the agent had gone on, so nothing is shown. */
export type Verdict = "nothing_sent_twice" | "sent_twice" | "void";

export interface Finding extends Omit<SentAgain, "layer"> {
  readonly layer: LayerName;
  /** The package. */
  readonly by?: string | undefined;
  /** `file:line`, from the working folder. */
  readonly at?: string | undefined;
  readonly change: string;
}

export interface FaultRun {
  readonly fault: Fault;
  /** Which write of the run was to be hit, and what it was without faults. */
  readonly nth: number;
  readonly write: string;
  readonly isHit: boolean;
  readonly isTimedOut: boolean;
  /** `--timeout` stopped it before it had sent again, and without faults the agent ends by itself. */
  readonly isCut: boolean;
  readonly exitCode: number;
  readonly seconds: number;
  readonly sentAgain: readonly Finding[];
}

export interface Report {
  readonly verdict: Verdict;
  readonly exitCode: number;
  readonly seed?: number | undefined;
  readonly withoutFaults: {
    readonly writes: readonly { readonly write: string; readonly sent: number }[];
    readonly modelRequests: number;
    readonly exitCode: number;
    readonly seconds: number;
  };
  readonly runs: readonly FaultRun[];
  /** What could not be watched, and the like. */
  readonly notes: readonly string[];
}

/** One run with a fault, as it was asked for and as it went. */
export interface Tried {
  readonly fault: Fault;
  readonly nth: number;
  readonly write: string;
  readonly run: AgentRun;
}

export function reportOf(
  base: AgentRun,
  tried: readonly Tried[],
  { cwd, seed }: { readonly cwd: string; readonly seed: number | undefined },
): Report {
  const runs = tried.map(({ fault, nth, write, run }): FaultRun => {
    const { isHit, isTimedOut, exitCode, seconds } = run;
    const found = isHit ? compareRuns(base, run) : [];
    const sentAgain = found.map((one) => findingOf(one, cwd));
    const isCut = isTimedOut && !base.isTimedOut && !sentAgain.some(({ isKeyed }) => !isKeyed);
    return { fault, nth, write, isHit, isTimedOut, isCut, exitCode, seconds, sentAgain };
  });
  const verdict = verdictOf(runs);
  const { exitCode, seconds, sends } = base;
  return {
    verdict,
    exitCode: { nothing_sent_twice: EXIT.ok, sent_twice: EXIT.found, void: EXIT.usage }[verdict],
    seed,
    withoutFaults: {
      writes: countedWrites(base),
      modelRequests: sends.filter(({ kind }) => kind === "model").length,
      exitCode,
      seconds,
    },
    runs,
    notes: notesOf([base, ...tried.map(({ run }) => run)]),
  };
}

/** A repeat under its key is told and is no fault: the service can tell that it is one. */
function verdictOf(runs: readonly FaultRun[]): Verdict {
  const found = runs.flatMap(({ sentAgain }) => sentAgain);
  if (found.some(({ isKeyed }) => !isKeyed)) return "sent_twice";
  const isShown = runs.length > 0 && runs.every(({ isHit, isCut }) => isHit && !isCut);
  return isShown ? "nothing_sent_twice" : "void";
}

function countedWrites(run: AgentRun): { write: string; sent: number }[] {
  const counts = new Map<string, number>();
  for (const send of writesOf(run)) {
    counts.set(nameOf(send), (counts.get(nameOf(send)) ?? 0) + 1);
  }
  return [...counts].map(([write, sent]) => ({ write, sent }));
}

function findingOf({ layer, ...sent }: SentAgain, cwd: string): Finding {
  const { name, by } = layer;
  const at = layer.at && `${relative(cwd, layer.at.file)}:${layer.at.line}`;
  return { ...sent, layer: name, by, at, change: changeFor(layer) };
}

/** What to change at that line. */
function changeFor({ name, by, subpath, isWholeRun }: Layer): string {
  if (name === "model") {
    return "The tool told the model that it failed. Guard it: a lost reply is then unknown, and the same call is not made again.";
  }
  if (name === "restart") {
    return "The new process does not know what the old one sent. Guard the tool with a ledger that both have.";
  }
  if (name === "cannot_tell") return "Look at what calls this line.";
  if (subpath !== undefined)
    return `Switch its retries off: ownRetries(client, hf) from ${subpath}.`;
  if (by !== undefined) return `Switch the retries of ${by} off here, or guard the call.`;
  if (isWholeRun) return "The whole run is made again after a failure. Guard its tools.";
  return "The call is made again after a failure that may have come after the effect. Guard it.";
}

function notesOf(runs: readonly AgentRun[]): readonly string[] {
  const [base] = runs;
  const failures = new Set(runs.flatMap((run) => run.failures));
  const failed = base !== undefined && base.exitCode !== 0;
  return [
    ...(failed ? [`Without faults, too, the agent ended with ${base.exitCode}.`] : []),
    ...(runs.some(({ isBlind }) => isBlind)
      ? ["Requests over HTTP/2 were neither watched nor broken."]
      : []),
    ...(runs.some(({ isTimedOut }) => isTimedOut)
      ? ["A run was stopped before it had ended: --timeout."]
      : []),
    ...[...failures].map((why) => `Watching failed: ${why}`),
  ];
}
