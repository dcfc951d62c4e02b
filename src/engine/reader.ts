/**
 * Calls a tool's `readState`, and turns whatever it does into a reading; checks whether it sees a known commit
 * (`checkReader`). Calls the tool's `verify`, the postcondition of a success.
 *
 * A found effect that has an id and no owner is assigned to this operation, unless this one is known to have its own
 * (`Sought`). Nothing here throws: after a send, a reader that fails cannot tell.
 *
 * @module
 */

import { isResponse } from "../classify/answer.ts";
import { wireKey, wireKeys } from "../key/mint.ts";
import { withTimeLimit } from "../lang/clock.ts";
import type { OperationRecord } from "../ledger/record.ts";
import { isReadAnswer } from "../wire/answers.ts";
import { boundFetch } from "../wire/bound-fetch.ts";
import { isSafe } from "../wire/counter.ts";
import type { Fetch } from "../wire/guarded-fetch.ts";
import {
  answersOf,
  createToken,
  runWithoutToken,
  runWithToken,
  type WireToken,
} from "../wire/token.ts";
import { withEffect } from "./define/effect.ts";
import {
  brokenReader,
  cannotTell,
  cannotTellYet,
  checkReading,
  type Reading,
} from "./define/reading.ts";
import { type Engine, inBackground } from "./engine.ts";
import { about, type Operation } from "./operation/operation.ts";
import { whoseIs } from "./same-intent.ts";
import { inStoreTime } from "./store-call.ts";

/**
 * What is looked for, and whether the operation may take the effect that is found. One that is known to be done must
 * not take a second effect: that one belongs to another operation, which would then be found absent, and sent again.
 */
export type Sought =
  | { readonly tag: "may_take" }
  /**
   * Nothing was sent, and the tool wants to know whether the thing is there: whoever made it, it need not be sent. A
   * reading that names an effect of another operation still cannot tell.
   */
  | { readonly tag: "may_be_there" }
  /** `effectId`: the effect that it has, if that is known. */
  | { readonly tag: "has_its_own"; readonly effectId: string | undefined };

export async function askReader(
  operation: Operation,
  record: OperationRecord,
  timeoutMs: number,
  engine: Engine,
  sought: Sought,
): Promise<Reading<unknown>> {
  const { tool, ref } = operation;
  const { readState } = tool;
  if (!readState) return cannotTell("no_reader");
  const { store } = engine.ledger;
  const stop = new AbortController();
  // A look is no part of any attempt: its requests are counted apart, its operations are no inner ones.
  const token = runWithoutToken(() => createToken({ operationId: ref.id, attempt: 0 }));
  let tookKey = false;
  let fetchFailed = false;
  const query = {
    // Of a settled operation it is no longer kept: only a reader that takes it need know.
    get intent() {
      return operation.intent;
    },
    get key() {
      tookKey = true;
      return wireKey(record.id, record.generation);
    },
    get keys() {
      tookKey = true;
      return wireKeys(record.id, record.generation);
    },
    firstSentAt: record.attempts[0]?.at ?? record.createdAt,
    taken: async (effectId: string) => {
      const owner = await store.ownerOf(ref.tenant, tool.service, effectId);
      return owner !== undefined && owner !== ref.id;
    },
    signal: stop.signal,
    get fetch(): Fetch {
      const send = boundFetch(token, globalThis.fetch);
      // What fails before it is sent (a header that is none) is not seen on the wire.
      return (input, init) =>
        send(input, init).catch((error: unknown) => {
          fetchFailed = true;
          throw error;
        });
    },
  };
  const startedAt = engine.clock.monotonic();
  const asked = runWithToken(token, async () => readState(query));
  const inTime = await withTimeLimit(engine.clock, Math.min(timeoutMs, tool.readTimeoutMs), asked);
  stop.abort();
  const reading =
    inTime.tag === "done"
      ? await takeIfMine(operation, inTime.value, { token, tookKey, fetchFailed }, sought, engine)
      : brokenReader(inTime.tag);
  const durationMs = engine.clock.monotonic() - startedAt;
  engine.events.emit("read", () => {
    const why = reading.reading === "cannot_tell" ? reading.why : undefined;
    return { ...about(operation), reading: reading.reading, why, durationMs };
  });
  if (isBroken(reading)) {
    const { why } = reading;
    engine.events.emit("warning", () => ({
      ...about(operation),
      code: "reader_failed",
      which: "readState",
      why,
    }));
  }
  return reading;
}

/** The reader did something else than answer: asked again, it may answer. */
export const isBroken = (reading: Reading<unknown>): reading is BrokenReading =>
  reading.reading === "cannot_tell" && reading.failed === true;

type BrokenReading = Extract<Reading<unknown>, { reading: "cannot_tell" }>;

/**
 * A list that was answered 503 is not an empty list. Each request must have been answered in the end, by what it
 * asked for or by a 404; what was not seen on the wire is the reader's own word. Two requests to one address are one that
 * was sent again, but not where the question is in the body (GraphQL, a search): there each must have been answered.
 */
function isAnswered(token: WireToken): boolean {
  const last = new Map<string | number, number | undefined>();
  for (const [number, { method, href, status }] of answersOf(token).entries()) {
    last.set(isSafe(method) ? `${method} ${href}` : number, status);
  }
  const beyond = token.counter?.beyond() ?? [];
  return [...last.values(), ...beyond.map(({ status }) => status)].every(isReadAnswer);
}

/** How the reader went about it. */
interface Looked {
  readonly token: WireToken;
  readonly tookKey: boolean;
  readonly fetchFailed: boolean;
}

/** An effect that is found need not be this operation's: each belongs to one operation. If it is free, it is assigned here. */
async function takeIfMine(
  operation: Operation,
  answer: unknown,
  { token, tookKey, fetchFailed }: Looked,
  sought: Sought,
  engine: Engine,
): Promise<Reading<unknown>> {
  const { ref, tool } = operation;
  const checked = checkReading(answer);
  const reading = sought.tag === "may_be_there" ? checked : withEffect(checked, tool);
  if (reading.reading === "absent" && fetchFailed) return brokenReader("unanswered");
  if (reading.reading === "absent" && !isAnswered(token)) return brokenReader("unanswered");
  // Found by likeness, perhaps in another account than the one it was sent to.
  if (tool.isOneOfSeveral && !tookKey) return cannotTell("the tool was made several times");
  if (reading.reading !== "committed" || reading.effectId === undefined) return reading;
  const { store } = engine.ledger;
  const mayTake = sought.tag !== "has_its_own";
  const isLike = mayTake && !tookKey;
  const whose = isLike
    ? await whoseIs(operation, reading.effectId, engine).catch(() => "unanswered")
    : undefined;
  if (whose === "unanswered") return cannotTell("the ledger did not answer");
  if (whose === "open") return cannotTellYet("an equal operation is under way");
  if (isLike) engine.tenantState.found.delete(ref.id);
  const owning = mayTake
    ? store.own(ref.tenant, tool.service, reading.effectId, ref.id)
    : store.ownerOf(ref.tenant, tool.service, reading.effectId);
  const owner = await inStoreTime(engine, owning);
  if (owner.tag !== "done") return cannotTell("the ledger did not answer");
  const isFree = owner.value === undefined || owner.value === ref.id;
  // The search for another one begins anew.
  if (whose === "free" && !isFree)
    return cannotTellYet("another operation has just taken the effect");
  const { effectId = reading.effectId } = sought.tag === "has_its_own" ? sought : {};
  return isFree && effectId === reading.effectId
    ? reading
    : cannotTell("the effect belongs to another operation");
}

/** After a success of the tool, until one check has said whether the reader can see it. */
export function checkReader(
  operation: Operation,
  record: OperationRecord,
  effectId: string | undefined,
  engine: Engine,
): void {
  const { tool } = operation;
  const { learned } = tool;
  if (!tool.readState || learned.readerChecked) return;
  learned.readerChecked = true;
  // A reader may lag by as much as it declares.
  engine.clock.after(
    tool.commitsWithinMs ?? 0,
    () =>
      inBackground(engine, async () => {
        const sought = { tag: "has_its_own", effectId } as const;
        const reading = await askReader(operation, record, tool.readTimeoutMs, engine, sought);
        if (reading.reading === "cannot_tell") learned.readerChecked = false;
        if (reading.reading === "absent") markReaderBlind(operation, engine);
      }),
    true,
  );
}

/** Takes the `absent` licence from a reader that does not find this committed operation. */
export function markReaderBlind(operation: Operation, engine: Engine): void {
  const { learned } = operation.tool;
  learned.readerChecked = true;
  learned.readerBlind = true;
  engine.events.emit("warning", () => ({ ...about(operation), code: "reader_blind" }));
}

/** The postcondition of a success. One that cannot be checked is not fulfilled. */
export async function isVerified(
  operation: Operation,
  result: unknown,
  engine: Engine,
): Promise<boolean> {
  const { tool, intent } = operation;
  const { verify } = tool;
  if (!verify) return true;
  const stop = new AbortController();
  const { signal } = stop;
  const value = isResponse(result) ? result.clone() : result;
  const asked = runWithoutToken(async () => verify(value, { intent, signal }));
  const inTime = await withTimeLimit(engine.clock, tool.readTimeoutMs, asked);
  stop.abort();
  if (inTime.tag === "done" && typeof inTime.value === "boolean") return inTime.value;
  const why = inTime.tag === "done" ? "nonsense" : inTime.tag;
  engine.events.emit("warning", () => ({
    ...about(operation),
    code: "reader_failed",
    which: "verify",
    why,
  }));
  return false;
}
