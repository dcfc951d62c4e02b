/**
 * One guarded call: which call it is → what becomes of it → what the host is told.
 *
 * @module
 */

import { engineOf } from "../../engine/engine-of.ts";
import type { Outcome } from "../../engine/operation/outcome.ts";
import { isTask, WORDS_FOR_TASK } from "../tasks.ts";
import { FAILED, tell, withWords, wordsAnswer } from "./answer.ts";
import { type Call, type CallAnswer, type CallParts, predecessorOf, successorOf } from "./call.ts";
import type { Making } from "./operations.ts";
import type { TrackedCall } from "./tracked-calls.ts";

/** A question may have changed while it was answered; not for ever. */
const MOST_QUESTIONS = 4;

export async function answerCall(call: Call, parts: CallParts): Promise<CallAnswer> {
  const { trackedCalls, withinMs } = parts;
  const now = engineOf(parts.hf).ledger.clock.latest;
  const isTooOld = (receivedAt: number) => now() - receivedAt >= withinMs;
  const tracked = await trackedCalls.find(call.row, isTooOld, call.isSecond);
  if (tracked.phase === "received") return repeated(call, tracked, parts);
  if (tracked.isKnown) parts.onEvent("same");
  // It was cancelled after it had left no record: made again, it would be sent again.
  if (tracked.isForgotten) {
    const failure = parts.failures.get(tracked.key);
    return { tracked, answer: failure ?? wordsAnswer({ ok: false, message: FAILED }, true) };
  }
  const outcome = await make(call, tracked.key, parts, await askedFor(call, tracked.key, parts));
  const isOld = outcome.replayed && tracked.isKnown && now() - outcome.at >= withinMs;
  if (outcome.status === "committed" && isOld) return onceMore(call, tracked, outcome, parts);
  return { tracked, answer: await tell(call, tracked, outcome, parts) };
}

/** The host has received the answer a short while ago, and makes the same call. */
async function repeated(call: Call, tracked: TrackedCall, parts: CallParts): Promise<CallAnswer> {
  parts.onEvent("repeated");
  if (call.treatment.repeat === "allow" || !call.treatment.writes) return anew(call, parts);
  // Nothing is fired: it is known to be done, or a person has said no.
  const how = await askedFor(call, tracked.key, parts);
  const outcome = await make(call, tracked.key, parts, how);
  if (outcome.status !== "committed" || call.treatment.repeat === "replay") {
    return { tracked, answer: await tell(call, tracked, outcome, parts) };
  }
  return onceMore(call, tracked, outcome, parts);
}

async function anew(call: Call, parts: CallParts): Promise<CallAnswer> {
  const tracked = await parts.trackedCalls.replace(call.row, crypto.randomUUID());
  const outcome = await make(call, tracked.key, parts);
  return { tracked, answer: await tell(call, tracked, outcome, parts) };
}

type Committed = Extract<Outcome<unknown>, { status: "committed" }>;

/** The same call is done already, and may be wanted once more: a person is asked if the host can ask one, else the model is told. */
async function onceMore(
  call: Call,
  tracked: TrackedCall,
  outcome: Committed,
  parts: CallParts,
): Promise<CallAnswer> {
  const task = await parts.readTask(outcome.effectId);
  // As after an answer with an error.
  if (task === "failed" && call.errorEnds && tracked.phase === "received") return anew(call, parts);
  if (parts.people.canAsk()) {
    parts.onEvent("asked");
    return again(call, outcome.id, parts);
  }
  const when = new Date(outcome.at).toISOString();
  const words = `${WORDS_FOR_TASK[task ?? "none"]} at ${when}; nothing was sent this time. Its result follows. If it is wanted once more, call holdfire_do_again with {"operation":"${outcome.id}","why":"…"}.`;
  return { tracked, answer: withWords(await tell(call, tracked, outcome, parts), words) };
}

/** The one successor of an operation: its key is made from the operation alone. */
export async function again(call: Call, operation: string, parts: CallParts): Promise<CallAnswer> {
  const tracked = await parts.trackedCalls.replace(call.row, successorOf(operation));
  const how = await askedFor(call, tracked.key, parts);
  const outcome = await make(call, tracked.key, parts, how);
  return { tracked, answer: await tell(call, tracked, outcome, parts) };
}

/**
 * What a person is asked about a successor, where the host can ask one or the question waits in the inbox. The same
 * words each time: a yes is to what was shown.
 */
async function askedFor(
  { tool, treatment }: Call,
  key: string,
  { hf, operations, people }: CallParts,
): Promise<Partial<Pick<Making, "asks" | "toldToPerson">>> {
  const predecessor = predecessorOf(key);
  if (predecessor === undefined) return {};
  const before = await hf.operations.get(predecessor);
  const own = await hf.operations.get(operations.idOf(tool, key));
  const when = before ? new Date(before.at).toISOString() : "an earlier time";
  return {
    asks: treatment.asks || people.canAsk() || own?.status === "held",
    toldToPerson: [
      `The same call was ${isTask(before?.effectId) ? "begun as a task" : "done"} at ${when}. A yes does it once more.`,
    ],
  };
}

/** Makes the operation, as often as a person's answer lets it go on. */
async function make(
  call: Call,
  key: string,
  parts: CallParts,
  how: Partial<Pick<Making, "asks" | "toldToPerson" | "retry">> = {},
): Promise<Outcome<unknown>> {
  const { tool, sending, thread, args, treatment, signal, define } = call;
  const { operations, people, rewordings } = parts;
  const { asks, onDrift } = treatment;
  const open = onDrift === "allow" ? [] : await rewordings.of(call);
  const mayReword = open.filter((id) => id !== operations.idOf(tool, key));
  const called = { key, thread, args, sending, signal, define };
  const making = { ...called, asks, onDrift, mayReword, ...how };
  for (let asked = 0; ; asked += 1) {
    const outcome = await operations.make(tool, making);
    if (outcome.status === "held" && outcome.reason !== "lane") {
      if (asked < MOST_QUESTIONS && (await people.ask(outcome.id, tool, signal)) === "answered")
        continue;
      return outcome;
    }
    // It certainly did not happen, and the host was not told so.
    const isOver = outcome.status === "not_applied" && outcome.replayed;
    if (isOver && outcome.reason !== "rejected" && !making.retry) {
      Object.assign(making, { retry: "not received" });
      continue;
    }
    return outcome;
  }
}
