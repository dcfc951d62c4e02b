/** The part of the checker that reads the ledger's history: who wrote what, in which order. */

import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Broken, Evidence } from "./checker.ts";
import { mistimedIn, opOfRecord, show } from "./checker.ts";
import type { Sent } from "./world/network.ts";
import { traitsOf } from "./world/settings.ts";
import type { Written } from "./world/store.ts";

/** Of an operation whose record was evicted there may be two owners. */
const evictedIn = (history: Evidence["history"]): ReadonlySet<string> =>
  new Set(
    history.flatMap(({ by, before }) => (by === "eviction" && before ? [opOfRecord(before)] : [])),
  );

export function checkHistory(evidence: Evidence, broken: Broken): void {
  const evicted = evictedIn(evidence.history);
  const mistimed = mistimedIn(evidence);
  for (const written of evidence.history) {
    // A power failure takes back what nobody was told; the reaper has checks of its own.
    if (written.by === "power" || evicted.has(opOfRecord(written.before ?? NOBODY))) continue;
    if (written.by === "reaper") checkReaper(written, broken);
    else checkWrite(written, evidence, broken);
    if (!mistimed.has(opOfRecord(written.after ?? NOBODY))) {
      checkNotApplied(written, evidence, broken);
    }
  }
  checkSends(evidence, broken);
}

function checkReaper({ before, after }: Written, broken: Broken): void {
  if (!before || !isOpen(before)) return;
  const what = after ? "changed" : "removed";
  broken(
    "I2 nothing is lost silently",
    `${opOfRecord(before)}: ${before.state.tag}, ${what} by age`,
  );
}

const isOpen = ({ state: { tag } }: OperationRecord): boolean =>
  tag === "claimed" || tag === "unknown" || tag === "held";

function checkWrite(
  { at, by, before, after, leaseBefore }: Written,
  { clocksSet, forgotten }: Evidence,
  broken: Broken,
): void {
  if (!before) return;
  const op = opOfRecord(before);
  const from = before.state;
  if (from.tag === "committed" && after?.state.tag !== "committed") {
    broken("I7 what is settled stays settled", `${op}: committed, then ${after?.state.tag}`);
  }
  if (from.tag === "not_applied" && after && !mayFollowNo(after.state)) {
    broken("I7 what is settled stays settled", `${op}: not_applied, then ${after.state.tag}`);
  }
  // A person let another wording pass in its place.
  if (before.abandonedFor !== undefined && after && after.fired > before.fired) {
    broken("I17 what is abandoned is not fired", `${op}: attempt ${after.fired}, by ${by}`);
  }
  if (after && after.epoch < before.epoch) {
    broken("I7 fencing", `${op}: epoch ${before.epoch}, then ${after.epoch}`);
  }
  if (from.tag !== "claimed") return;
  const owner = hostOf(from.holder);
  const to = after?.state;
  if (to?.tag === "claimed") {
    const taken = to.holder !== from.holder;
    // A lease that had lapsed lasts again when the store's clock is set back before the takeover is written.
    const lapsesOnce = !clocksSet.has("store");
    if (taken && lapsesOnce && leaseBefore !== undefined && at < leaseBefore) {
      broken(
        "I7 fencing",
        `${op}: taken over by ${by} ${leaseBefore - at} ms before its lease ended`,
      );
    }
    return;
  }
  const byPerson = to && "by" in to && to.by !== undefined;
  // A yes that was heard too late is written by whoever heard it, once the owner's lease has lapsed.
  const hasLapsed = leaseBefore !== undefined && (at >= leaseBefore || clocksSet.has("store"));
  const byWitness = to?.tag === "committed" && to.via === "late" && hasLapsed;
  // So is that a person gave it up, by whoever is let pass in its place.
  const byOther = to?.tag === "unknown" && to.reason === "abandoned" && hasLapsed;
  // Epochs begin anew with a record: where the reaper took a settled one while its owner was not yet told that it had
  // settled, that owner writes once more.
  if (!byPerson && !byWitness && !byOther && owner !== by && !forgotten.get(op)) {
    broken("I7 fencing", `${op}: owned by ${owner}, but ${by} made it ${to?.tag ?? "vanish"}`);
  }
}

/** Besides a commit that became known, only a request that left after all takes a no back. */
const mayFollowNo = (state: OperationRecord["state"]): boolean =>
  ["not_applied", "claimed", "held", "committed"].includes(state.tag) ||
  (state.tag === "unknown" && state.reason === "late_send");

const hostOf = (holder: string): string => holder.slice(0, holder.lastIndexOf("-"));

/** What was sent before the ledger said "not applied" must not have, and never get, an effect. */
function checkNotApplied(
  { at, id, before, after }: Written,
  { effects, forgotten }: Evidence,
  broken: Broken,
): void {
  if (after?.state.tag !== "not_applied" || before?.state.tag === "not_applied") return;
  const op = opOfRecord(after);
  if (forgotten.get(op)) return;
  const lie = effects.find(
    (effect) => effect.op === op && effect.sent.at < at && !effect.sent.late,
  );
  if (!lie) return;
  const said = `the ledger said not_applied (${after.state.reason}) at ${at}`;
  broken(
    "I5 not applied is true for ever",
    `${op} ${id.slice(0, 6)}: ${said}, but ${show(lie.sent)}`,
  );
}

/** Every send is made under a claim of the sender's own, which names the attempt. */
function checkSends({ sends, history, calls, clocksSet }: Evidence, broken: Broken): void {
  // What a queue sends for another attempt may pass, and clocks that are wrong show no time.
  const keepsTime = clocksSet.size === 0 && !calls.some(({ spec }) => spec.manner === "queued");
  const evicted = evictedIn(history);
  // A lease does not last as long as was said.
  if (clocksSet.has("store")) return;
  for (const sent of sends) {
    if (evicted.has(sent.op)) continue;
    const last = history
      .slice(0, sent.ledgerAt)
      .findLast(({ before, after }) => opOfRecord(after ?? before ?? NOBODY) === sent.op);
    const why = whyNotClaimed(sent, last, keepsTime);
    if (why) broken("I3 claimed before it is sent", `${show(sent)}: ${why}`);
  }
}

function whyNotClaimed(
  sent: Sent,
  written: Written | undefined,
  keepsTime: boolean,
): string | undefined {
  const record = written?.after;
  // What is left behind by a settled `run` is judged by what is told of it.
  if (sent.late) return undefined;
  if (!record) return "the ledger has nothing";
  const isOwn = record.state.tag === "claimed" && hostOf(record.state.holder) === sent.by;
  // A request that the wire sees may leave for as long as was noted, also when its caller has left.
  if (!isOwn && !traitsOf(sent.tool).wire) return `the ledger has ${record.state.tag}`;
  const note = record.attempts.find(({ n }) => n === sent.attempt);
  if (!note) return "the attempt is not noted";
  const isOver = keepsTime && traitsOf(sent.tool).wire && sent.at > (note.endsBy ?? 0);
  return isOver ? `noted was that it ends by ${note.endsBy}` : undefined;
}

const NOBODY = { aliases: [], id: "" } as unknown as OperationRecord;
