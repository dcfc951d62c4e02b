/**
 * Operations inside an attempt of another. The outer one keeps count of them: with an inner one
 * committed or unknown, it can no longer say that nothing happened.
 *
 * @module
 */

import type { Judgement } from "../../classify/classify.ts";
import { peek, peekItems } from "../../lang/peek.ts";
import { currentToken, termsOf } from "../../wire/token.ts";
import type { OutcomeStatus } from "./outcome.ts";

/** An inner operation; its status is set when it has one. */
export interface Inner {
  status: OutcomeStatus | "pending";
  error: unknown;
  /** Which operation it was, and the error that stands for its outcome. */
  told?: { readonly id: string; readonly errorOf: () => unknown } | undefined;
}

/** An operation around another, and the lane it is in. */
export interface Outer {
  readonly id: string;
  readonly resource: string | undefined;
}

/** One attempt of an outer operation. */
export interface Frame {
  readonly operationId: string;
  /** That operation, and those around it. */
  readonly outer?: readonly Outer[] | undefined;
  readonly inner: Inner[];
}

/** The attempt that this code runs in; its wire token carries it. */
export const currentFrame = (): Frame | undefined => currentToken()?.frame as Frame | undefined;

/** Announces an inner operation to the attempt it is made in. One that comes after its end is a write that is late. */
export function enterInner(): Inner | undefined {
  const frame = currentFrame();
  if (!frame) return undefined;
  const token = currentToken();
  if (token?.hasEnded) termsOf(token)?.onLate();
  const inner: Inner = { status: "pending", error: undefined };
  frame.inner.push(inner);
  return inner;
}

/**
 * The failure of an inner operation that `run` returned as what a model is told of it: of a tool that is guarded twice, or
 * by `inner.reply`. It comes up as if it had been thrown. `undefined`: the value is the outer one's own.
 */
export function innerFailureIn(value: unknown, { inner }: Frame): unknown {
  if (inner.length === 0) return undefined;
  const reply = replyIn(value);
  if (reply === undefined) return undefined;
  const [id, outcome] = [peek(reply, "operation"), peek(reply, "outcome")];
  const failed = inner.find(({ status, told }) => told?.id === id && status === outcome);
  if (!failed?.told) return undefined;
  failed.error ??= failed.told.errorOf();
  return failed.error;
}

/** The fields of a reply (`outcome/reply.ts`) that says no; and those of an MCP tool's result. */
const REPLY = new Set<PropertyKey>(["ok", "outcome", "effect", "replayed", "operation", "message"]);
const MCP_RESULT = new Set<PropertyKey>(["content", "isError", "_meta"]);

/**
 * A reply that says no: as it is, as text, or in the result of an MCP tool. With any field more it is what `run` itself has
 * to say of it.
 */
function replyIn(value: unknown): unknown {
  const block = hasOnly(value, MCP_RESULT) ? peekItems(peek(value, "content"), 1)[0] : undefined;
  const text = typeof value === "string" ? value : peek(block, "text");
  const reply = typeof text === "string" ? parsed(text) : value;
  return peek(reply, "ok") === false && hasOnly(reply, REPLY) ? reply : undefined;
}

function hasOnly(value: unknown, names: ReadonlySet<PropertyKey>): boolean {
  if (typeof value !== "object" || value === null) return false;
  try {
    return Reflect.ownKeys(value).every(
      (name) => names.has(name) || peek(value, name) === undefined,
    );
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  try {
    return text.startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

export type NestedJudgement = Judgement & {
  /** All that it did was done by operations inside it: run again, those are replayed. */
  readonly innerOnly?: boolean | undefined;
};

const HAPPENED = new Set<Inner["status"]>(["committed", "unknown", "in_progress", "pending"]);

/** What an attempt did beside its inner operations. */
export interface OwnPart {
  /** The requests, and other ways out, that were not an inner operation's. */
  readonly requests: number;
  /** The tool promises that there is nothing but those: what is not seen is not there. */
  readonly viaHttp: boolean;
}

/** Corrects what a failed attempt proves by what happened inside it. */
export function judgeNested(
  judgement: Judgement,
  frame: Frame,
  error: unknown,
  own: OwnPart,
): NestedJudgement {
  if (frame.inner.length === 0 || judgement.verdict === "committed") return judgement;
  // Only an inner failure that came up untouched shows that nothing else was on the way.
  const passedUp = frame.inner.some((inner) => inner.error !== undefined && inner.error === error);
  const seenInside = passedUp && own.requests === 0;
  const innerOnly = seenInside && own.viaHttp;
  if (frame.inner.some(({ status }) => HAPPENED.has(status))) {
    return { ...judgement, verdict: "unknown", innerOnly };
  }
  return seenInside ? { ...judgement, verdict: "not_sent", innerOnly } : judgement;
}
