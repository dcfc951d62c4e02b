/**
 * What could have refuted a claim, and whether it did: of the key, of the reader, of the time to commit. Pure.
 *
 * @module
 */

import { isDeepStrictEqual } from "node:util";
import { effectOf } from "../../engine/define/effect.ts";
import { recognisesRepeats, type Tool } from "../../engine/define/tool.ts";
import { isFound, type ProbeRead } from "./read-probe.ts";
import type { Trial, Trials } from "./trial.ts";

/** One thing that could have refuted a claim. */
export interface Check {
  readonly holds: true | false | "untested";
  readonly why: string;
}

const HOLDS = (why: string): Check => ({ holds: true, why });
const FAILS = (why: string): Check => ({ holds: false, why });
export const UNTESTED = (why: string): Check => ({ holds: "untested", why });

const NEEDS_CUTS: Check = UNTESTED("no reply could be cut: give sandbox.connect");

/** Why a trial with a cut shows nothing. `commits`: the service was to get the request and say yes. */
function spoiled(trial: Trial, commits: boolean): Check | undefined {
  const { requests, sends, status } = trial;
  if (!requests) {
    return UNTESTED(
      "run sent nothing to cut: connect must use the base URL it is given, and carriesEffect must know the request",
    );
  }
  if (sends[0]?.ended.ok) return UNTESTED("run returned a result although its connection was cut");
  if (!commits) return undefined;
  const committed = status !== undefined && status >= 200 && status < 300;
  if (committed) return undefined;
  return UNTESTED(`the service did not commit: ${status ? `status ${status}` : "no answer"}`);
}

/** Why nothing can be concluded: an undisturbed call does not work here. */
export function broken({ answered: { sends } }: Trials): Check | undefined {
  const ended = sends[0]?.ended;
  return ended?.ok ? undefined : UNTESTED(`run failed: ${ended?.why ?? "it never ran"}`);
}

export const said = (read: ProbeRead | undefined): string =>
  read?.why ? `${read.reading} (${read.why})` : (read?.reading ?? "nothing");

export const ms = (duration: number): string => `${Math.ceil(duration)} ms`;

export function checkKeyTaken(trials: Trials, keyed: boolean): Check {
  const { sends } = trials.answered;
  if (sends.some(({ tookKey }) => tookKey)) return HOLDS("run took the key from its context");
  const untested = broken(trials);
  if (untested) return untested;
  return keyed
    ? FAILS("run never took the key, so the service cannot know it")
    : UNTESTED("run does not take the key, and nothing rests on it");
}

/** Counted by the service's own records, else by the reader, else by the results. */
export function checkKeyed(tool: Tool, trials: Trials): readonly Check[] {
  const { answered } = trials;
  const [first, second] = answered.sends;
  if (!first?.ended.ok) return [broken(trials) ?? UNTESTED("it never ran")];
  if (!first.tookKey) return [FAILS("run never took the key, so the service cannot know it")];
  if (!second) return [UNTESTED("the key was not sent again")];
  if (!second.ended.ok) return [FAILS(`the same key again got no result: ${second.ended.why}`)];
  const { effects, reads } = answered;
  const last = reads.at(-1);
  if (effects !== undefined) {
    return [
      effects === 1
        ? HOLDS("the same key twice made one effect")
        : FAILS(`the same key twice made ${effects} effects, by the service's own records`),
    ];
  }
  if (last?.reading === "duplicated") return [FAILS("the same key twice made several effects")];
  const [one, two] = [first.ended.value, second.ended.value];
  const ids = tool.effect.id && [effectOf(tool, one).effectId, effectOf(tool, two).effectId];
  if (ids ? ids[0] !== ids[1] : !isDeepStrictEqual(one, two)) {
    return [FAILS("the same key twice gave two different results")];
  }
  if (last?.reading === "committed") return [HOLDS("the same key twice made one effect")];
  if (ids?.[0] !== undefined) return [HOLDS("the same key twice gave the same effect id")];
  return [UNTESTED("nothing can count the effects: give sandbox.countEffects")];
}

/** Where nothing recognises a repeat, a client that sends again by itself makes the effect again, and no reader helps. */
export function checkSentOnce(tool: Tool, trials: Trials): readonly Check[] {
  const { answered, lostRequest, lostReply, lostEarly } = trials;
  if (answered.requests === undefined || recognisesRepeats(tool)) return [];
  const most = Math.max(...[lostRequest, lostReply, lostEarly].map((one) => one?.requests ?? 0));
  if (most <= answered.requests) return [];
  return [
    FAILS(
      `run sent ${most} requests where ${answered.requests} would do: it retries by itself, and nothing recognises a repeat`,
    ),
  ];
}

export function checkReader(trials: Trials): readonly Check[] {
  const { neverSent, answered, lostReply, lostRequest, lostEarly } = trials;
  const untested = broken(trials);
  if (untested) return [untested];
  const ids = new Map<string, number>();
  for (const trial of [answered, lostReply, lostRequest, lostEarly]) {
    const id = trial?.reads.findLast(({ effectId }) => effectId !== undefined)?.effectId;
    if (id !== undefined) ids.set(id, (ids.get(id) ?? 0) + 1);
  }
  return [
    neverSent?.reading === "absent"
      ? HOLDS("it says absent of what was never sent")
      : FAILS(`of a key that was never sent it says ${said(neverSent)}`),
    found(answered.reads, "an effect that was answered"),
    againstRecords(answered.reads, answered.effects),
    [...ids.values()].some((times) => times > 1)
      ? FAILS("it gives one effect to two operations: found is not mine")
      : HOLDS("it takes no effect for another"),
    checkLostRequest(trials),
    checkLostReply(trials),
  ];
}

function checkLostRequest({ lostRequest }: Trials): Check {
  const untested = lostRequest ? spoiled(lostRequest, false) : NEEDS_CUTS;
  if (untested) return untested;
  const wrong = lostRequest?.reads.find(({ reading }) => reading !== "absent");
  return wrong
    ? FAILS(`of a request that never arrived it says ${said(wrong)}`)
    : HOLDS("it says absent of what never arrived");
}

function checkLostReply({ lostReply }: Trials): Check {
  const untested = lostReply ? spoiled(lostReply, true) : NEEDS_CUTS;
  if (untested) return untested;
  const { reads = [], effects } = lostReply ?? {};
  const there = found(reads, "an effect whose reply was lost");
  if (there.holds !== true) return there;
  const compared = againstRecords(reads, effects);
  if (compared.holds === false) return compared;
  return reads.at(-1)?.reading === "duplicated" && effects === undefined
    ? FAILS("it finds several effects of a request that was made once")
    : HOLDS("it finds what a lost reply left behind, and nothing where nothing is");
}

function found(reads: readonly ProbeRead[], what: string): Check {
  const last = reads.at(-1);
  return last && isFound(last)
    ? HOLDS(`it finds ${what}`)
    : FAILS(`of ${what} it still says ${said(last)} after ${ms(last?.afterMs ?? 0)}`);
}

function againstRecords(reads: readonly ProbeRead[], effects: number | undefined): Check {
  const reading = reads.at(-1)?.reading;
  if (effects === undefined) return HOLDS("there are no records to compare with");
  const wrong =
    (reading === "committed" && effects !== 1) || (reading === "duplicated" && effects < 2);
  return wrong
    ? FAILS(`it says ${reading}, and by the service's own records there are ${effects} effects`)
    : HOLDS("it agrees with the service's own records");
}

/** A reader that cannot tell proves nothing about the time. */
const NOT_THERE = new Set<string>(["absent", "in_progress"]);

export function checkWindow(trials: Trials, withinMs: number, reader: boolean): readonly Check[] {
  if (!reader) return [UNTESTED("without readState it says nothing")];
  const { answered, lostReply, lostEarly } = trials;
  const unable = broken(trials);
  if (unable) return [unable];
  const tried = [answered, lostReply, lostEarly].filter((trial) => trial !== undefined);
  const shown = tried.filter((trial) => trial === answered || !spoiled(trial, true));
  const lags = shown.map(({ reads }) => reads.find(isFound)?.afterMs);
  if (lags.every((lag) => lag === undefined)) {
    return [UNTESTED("the reader never finds anything, so its absent says nothing")];
  }
  const late = shown.map(({ reads }) =>
    reads.find(({ afterMs, reading }) => afterMs > withinMs && NOT_THERE.has(reading)),
  );
  const at = late.findIndex((read) => read !== undefined);
  if (at >= 0) {
    const lag = lags[at];
    const then = lag === undefined ? "not found at all" : `found after ${ms(lag)}`;
    return [
      FAILS(
        `${ms(late[at]?.afterMs ?? 0)} after the end it was still ${said(late[at])}; ${then}, and ${ms(withinMs)} are declared`,
      ),
    ];
  }
  const untested = [lostReply, lostEarly].map((trial) =>
    trial ? spoiled(trial, true) : NEEDS_CUTS,
  );
  const slowest = Math.max(...lags.map((lag) => lag ?? 0));
  return [
    ...untested.filter((check) => check !== undefined),
    ...(lags.includes(undefined) ? [UNTESTED("the reader could not tell in time")] : []),
    HOLDS(
      `each commit was found within ${ms(slowest)} of ${ms(withinMs)}; a sample, not a guarantee`,
    ),
  ];
}
