/**
 * One guarded call: which call it is → what becomes of it → what the host is told.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { McpToolError } from "../../classify/mcp.ts";
import { engineOf } from "../../engine/engine-of.ts";
import type { Outcome } from "../../engine/operation/outcome.ts";
import { replyOf } from "../../engine/outcome/reply.ts";
import { checkerOf } from "../../engine/outcome/words.ts";
import type { Known } from "../../integrations/mcp/listing.ts";
import type { People } from "../people/people.ts";
import type { Answer } from "../pipe/message.ts";
import { outcomeAnswer, withWords } from "./answer.ts";
import type { Making, Operations } from "./operations.ts";
import type { Sending } from "./send-call.ts";
import { McpErrorAnswer } from "./send-call.ts";
import type { Standing, StandingMemory } from "./standing.ts";
import type { Treatment } from "./treatment.ts";

/** A call of the host, understood. */
export interface Call {
  readonly tool: string;
  readonly row: string;
  readonly thread: string;
  /** Without keys that a model has made up. */
  readonly args: unknown;
  readonly sending: Sending;
  readonly treatment: Extract<Treatment, { tag: "guard" }>;
  readonly signal: AbortSignal;
  readonly define: () => Promise<Known>;
  /** The same call was under way when it came. */
  readonly isSecond: boolean;
  /** Of its arguments, in characters. */
  readonly size: number;
}

export interface Told {
  readonly answer: Answer;
  /** The call that the answer is about. */
  readonly standing: Standing;
}

export interface CallParts {
  readonly hf: Holdfire;
  readonly operations: Operations;
  readonly standing: StandingMemory;
  readonly people: People;
  /** How long after a received answer a repeat is asked about, and an unreceived one is replayed, in milliseconds. */
  readonly withinMs: number;
  /** Answers with an error, which the ledger does not keep, by key. */
  readonly failures: Map<string, Answer>;
  readonly onEvent: (event: CallEvent) => void;
}

/** What a report counts. */
export type CallEvent = "fired" | "replayed" | "held" | "unknown" | "asked" | "repeated" | "same";

const MOST_FAILURES = 1_000;
/** A question may have changed while it was answered; not for ever. */
const MOST_QUESTIONS = 4;

export async function answerCall(call: Call, parts: CallParts): Promise<Told> {
  const { standing: memory, withinMs } = parts;
  const now = engineOf(parts.hf).ledger.clock.latest;
  const forgets = (receivedAt: number) => now() - receivedAt >= withinMs;
  const standing = await memory.find(call.row, forgets, call.isSecond);
  if (standing.phase === "received") return repeated(call, standing, parts);
  if (standing.isKnown) parts.onEvent("same");
  const outcome = await make(call, standing.key, parts, await askedFor(call, standing.key, parts));
  const isOld = outcome.replayed && standing.isKnown && now() - outcome.at >= withinMs;
  if (outcome.status === "committed" && isOld) return onceMore(call, standing, outcome, parts);
  return { standing, answer: tell(call, standing, outcome, parts) };
}

/** The host has received the answer a short while ago, and makes the same call. */
async function repeated(call: Call, standing: Standing, parts: CallParts): Promise<Told> {
  parts.onEvent("repeated");
  if (call.treatment.repeat === "allow" || !call.treatment.writes) {
    const next = await parts.standing.replace(call.row, crypto.randomUUID());
    const outcome = await make(call, next.key, parts);
    return { standing: next, answer: tell(call, next, outcome, parts) };
  }
  // Nothing is fired: it is known to be done.
  const outcome = await make(call, standing.key, parts);
  if (outcome.status !== "committed" || call.treatment.repeat === "replay") {
    return { standing, answer: tell(call, standing, outcome, parts) };
  }
  return onceMore(call, standing, outcome, parts);
}

type Committed = Extract<Outcome<unknown>, { status: "committed" }>;

/** It is done, and may be wanted once more: a person is asked if the host can ask one, else the model is told. */
async function onceMore(
  call: Call,
  standing: Standing,
  outcome: Committed,
  parts: CallParts,
): Promise<Told> {
  if (parts.people.canAsk()) {
    parts.onEvent("asked");
    return again(call, outcome.id, parts);
  }
  const when = new Date(outcome.at).toISOString();
  const words = `Already done at ${when}; nothing was sent this time. Its result follows. If it is wanted once more, call holdfire_do_again with {"operation":"${outcome.id}","why":"…"}.`;
  return { standing, answer: withWords(tell(call, standing, outcome, parts), words) };
}

/** The one successor of an operation: its key is made from the operation alone. */
export async function again(call: Call, operation: string, parts: CallParts): Promise<Told> {
  const standing = await parts.standing.replace(call.row, successorOf(operation));
  const how = await askedFor(call, standing.key, parts);
  const outcome = await make(call, standing.key, parts, how);
  return { standing, answer: tell(call, standing, outcome, parts) };
}

const AGAIN = "again ";

export const successorOf = (operation: string): string => AGAIN + operation;

/**
 * What a person is asked about a successor, where the host can ask one or the question waits in the inbox. The same
 * words each time: a yes is to what was shown.
 */
async function askedFor(
  { tool, treatment }: Call,
  key: string,
  { hf, operations, people }: CallParts,
): Promise<Partial<Pick<Making, "asks" | "toldToPerson">>> {
  if (!key.startsWith(AGAIN)) return {};
  const before = await hf.operations.get(key.slice(AGAIN.length));
  const own = await hf.operations.get(operations.idOf(tool, key));
  const when = before ? new Date(before.at).toISOString() : "an earlier time";
  return {
    asks: treatment.asks || people.canAsk() || own?.status === "held",
    toldToPerson: [`The same call was done at ${when}. A yes does it once more.`],
  };
}

/** Makes the operation, as often as a person's answer lets it go on. */
async function make(
  { tool, sending, thread, args, treatment, signal, define }: Call,
  key: string,
  parts: CallParts,
  how: Partial<Pick<Making, "asks" | "toldToPerson" | "retry">> = {},
): Promise<Outcome<unknown>> {
  const { operations, people } = parts;
  const { asks, writes } = treatment;
  const making = { key, thread, args, sending, signal, define, asks, writes, ...how };
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

function tell(
  { tool, sending, treatment }: Call,
  standing: Standing,
  outcome: Outcome<unknown>,
  { hf, operations, failures, onEvent }: CallParts,
): Answer {
  const { status, replayed } = outcome;
  const isOpen = status === "unknown" || status === "in_progress" || status === "held";
  if (standing.phase !== "received") {
    standing.isSettled = !isOpen;
    standing.isDoneWrite = status === "committed" && treatment.writes;
    standing.isFailure = status === "not_applied" && outcome.reason === "rejected";
  }
  if (replayed && status === "committed") onEvent("replayed");
  else if (status === "held" || status === "unknown") onEvent(status);
  const own = sending.answer;
  // The server's own answer, as it came.
  if (own && status === "committed" && outcome.via === "reply" && !replayed) return own;
  if (status === "not_applied" && outcome.reason === "rejected") {
    if (own) keep(failures, standing.key, own);
    const failure = own ?? failures.get(standing.key);
    if (failure) return failure;
  }
  const reply = replyOf(outcome, checkerOf(operations.nameOf(tool), engineOf(hf)));
  return outcomeAnswer(outcome, { ...reply, message: wordsFor(outcome, reply.message) });
}

function wordsFor(outcome: Outcome<unknown>, message: string): string {
  if (outcome.status === "not_applied" && outcome.reason === "rejected") {
    return "The server answered this call with an error, and its words were not kept. Call again if it is still wanted.";
  }
  if (outcome.status === "unknown" && "error" in outcome) {
    const { error } = outcome;
    if (error instanceof McpErrorAnswer) return `The server answered with an error. ${message}`;
    if (error instanceof McpToolError) return `The tool answered with an error. ${message}`;
  }
  return message;
}

function keep(failures: Map<string, Answer>, key: string, answer: Answer): void {
  failures.delete(key);
  failures.set(key, answer);
  const [oldest] = failures.size > MOST_FAILURES ? failures.keys() : [];
  if (oldest !== undefined) failures.delete(oldest);
}
