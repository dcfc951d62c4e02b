/**
 * Step 1: **claim** → attempt. Takes the operation, or says what is known of it already.
 *
 * A claim is durable before the first byte leaves, and means "may have been sent". Whoever else owns
 * the operation is waited for; an owner whose lease has lapsed is succeeded, never presumed harmless.
 *
 * @module
 */

import { StoreUnavailableError } from "../errors.ts";
import type { Moved } from "../ledger/ledger.ts";
import type { Lost, Move } from "../ledger/moves.ts";
import type { Stored } from "../ledger/record.ts";
import { declaredBy, type Engine, inBackground } from "./engine.ts";

import type { Flight } from "./flight.ts";
import { commonOf, outcomeOf } from "./landing.ts";
import { about, type Operation } from "./operation.ts";
import type { Outcome } from "./outcome.ts";
import { type Owned, own } from "./owned.ts";
import { fixPrecondition } from "./precondition.ts";
import { reach } from "./reach.ts";
import { waitForChange } from "./wait.ts";
import { within } from "./within.ts";

/** How long after an attempt's timeout its owner is still believed to be alive. */
const LEASE_MARGIN_MS = 15_000;
/** And the least of it: no attempt starts that its lease does not outlast. */
const LEAST_MARGIN_MS = 1_000;

/** What is said of an operation in place of its recorded state. */
interface Said {
  readonly status: Outcome<unknown>["status"];
  readonly reason?: string | undefined;
  readonly error?: unknown;
}

export type Claim =
  | { readonly tag: "owned"; readonly owned: Owned }
  | { readonly tag: "known"; readonly outcome: Outcome<unknown> };

export async function claimOperation(flight: Flight, engine: Engine): Promise<Claim> {
  const { operation } = flight;
  const { tool } = operation;
  const holder = engine.newId();
  const leaseMs = Math.max(
    engine.timing.leaseMs ?? tool.attemptTimeoutMs + LEASE_MARGIN_MS,
    tool.attemptTimeoutMs + LEAST_MARGIN_MS,
  );
  const known = async (stored: Stored | undefined): Promise<Claim> => {
    const outcome = await outcomeOf(operation, stored, engine);
    engine.events.emit("replay", { ...about(operation), status: outcome.status });
    if (stored) meetAgain(operation, stored, engine);
    return { tag: "known", outcome };
  };
  const saying = (stored: Stored | undefined, said: Said): Claim => ({
    tag: "known",
    outcome: { ...commonOf(operation, stored?.record, engine), ...said } as Outcome<unknown>,
  });
  /** This call sent nothing; what became of the operation otherwise is in the ledger. */
  const unsent = async (said: Omit<Said, "status">): Promise<Claim> => {
    const stored = await reach(engine, "read", engine.ledger.read(operation.ref));
    if (!stored) return saying(undefined, { status: "not_applied", ...said });
    const same = stored.record.fingerprint === operation.draft.identity.fingerprint;
    return same ? known(stored) : saying(undefined, { status: "conflict" });
  };

  const fixed = await fixPrecondition(flight, engine);
  if (fixed.tag !== "fixed") {
    return unsent({ reason: fixed.tag === "stopped" ? "aborted" : "not_sent", error: fixed.error });
  }
  const { precondition } = fixed;
  for (let turn = 0; ; turn += 1) {
    if (flight.stopped.aborted) return unsent({ reason: "aborted" });
    const admission = await engine.gate.admit(flight, engine);
    if (admission.tag !== "pass") {
      const { tag: status, ...why } = admission;
      return saying(undefined, { status, ...why });
    }
    const { clock, ledger } = engine;
    const suspect = lostBefore(operation, engine);
    const grantedAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const moved = await move(flight, engine, {
      move: "claim",
      draft: { ...operation.draft, precondition },
      holder,
      leaseMs,
      declared: declaredBy(tool, engine),
      cooldownMs: engine.timing.cooldownMs,
      retry: operation.retry !== undefined,
      suspect,
      powerless: !tool.readState && tool.keyedForMs === undefined && !tool.conditional,
      needsYes: admission.needsYes,
      spend: admission.spend,
      at: ledger.clock.earliest(),
    });
    if (moved.tag === "lane") {
      if (await waitForChange(flight, turn, engine)) continue;
      return unsent({ reason: "expired" });
    }
    // The store was found out by this very claim: nothing is sent on its word that nothing was.
    if (moved.tag === "moved" && !suspect && lostBefore(operation, engine)) {
      await withdraw(operation, holder, engine);
      continue;
    }
    if (moved.tag === "moved" && moved.stored) {
      const owned = own(flight, moved.stored, holder, leaseMs, grantedAt, engine);
      // Somebody has fired it before: whoever leaves now cannot be told that nothing was sent.
      if (!owned.noted) flight.sent = true;
      if (wasLost(moved.stored)) {
        engine.events.emit("takeover", { ...about(operation), epoch: owned.epoch });
      }
      return { tag: "owned", owned };
    }
    const why = moved.tag === "refused" ? moved.why : "absent";
    if (why === "conflict") return saying(undefined, { status: "conflict" });
    if (why === "busy") {
      if (await waitForChange(flight, turn, engine)) continue;
      return saying(moved.stored, { status: "in_progress" });
    }
    // The question has changed or expired, or what was let pass needs a yes by now: ask the gate anew.
    const stale = why === "mismatch" || why === "expired" || (why === "held" && !admission.spend);
    if (admission.needsYes && stale && (await waitForChange(flight, turn, engine))) continue;
    return known(moved.stored);
  }
}

/** Keeps the ids under which an operation was met again, for whoever traces it. Nobody waits for it. */
function meetAgain({ ref, draft }: Operation, { record }: Stored, engine: Engine): void {
  const { aliases, identity } = draft;
  if (aliases.every((alias) => record.aliases.includes(alias))) return;
  inBackground(engine, () => engine.ledger.move(ref, { move: "meet", aliases, run: identity.run }));
}

/** What the store may have lost, unless the caller vouches that there was nothing. */
export function lostBefore({ fresh, tool }: Operation, engine: Engine): Lost | undefined {
  const suspicion = engine.ledger.suspicion();
  if (!suspicion || fresh) return undefined;
  const leaseMs = tool.attemptTimeoutMs + LEASE_MARGIN_MS;
  return { since: suspicion.since, leaseMs, declared: declaredBy(tool, engine) };
}

function wasLost({ record: { state } }: Stored): boolean {
  const before = state.tag === "claimed" ? state.before : undefined;
  return before?.tag === "unknown" && before.reason === "owner-lost";
}

/** Claims in time, or not at all: a claim whose answer never came is withdrawn by its holder's name. */
async function move(
  { operation }: Flight,
  engine: Engine,
  claim: Extract<Move, { move: "claim" }>,
): Promise<Moved> {
  const { ref } = operation;
  const claiming = engine.ledger.move(ref, claim);
  const inTime = await within(engine.clock, engine.timing.storeTimeoutMs, claiming);
  if (inTime.tag === "done") return inTime.value;
  const error = inTime.tag === "failed" ? inTime.error : undefined;
  engine.events.emit("store-error", { step: "claim", error });
  // At once, and again when the lost answer comes: it may still be on its way to the store.
  inBackground(engine, () => withdraw(operation, claim.holder, engine));
  const again = () => inBackground(engine, () => withdraw(operation, claim.holder, engine));
  claiming.then(again, again);
  throw new StoreUnavailableError("claim", error);
}

/** Nothing was sent under this claim: leave nothing to replay. Tries until the store answers. */
export function withdraw(
  operation: Operation,
  holder: string,
  engine: Engine,
): Promise<Moved | "closed"> {
  const at = engine.ledger.clock.earliest();
  return engine.persist(() => engine.ledger.move(operation.ref, { move: "withdraw", holder, at }));
}
