/** The part of the checker that reads the ledger's history: who wrote what, in which order. */

import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Broken, Evidence } from "./checker.ts";
import { opOfRecord, show } from "./checker.ts";
import type { Written } from "./world/store.ts";

export function checkHistory(evidence: Evidence, broken: Broken): void {
  for (const written of evidence.history) {
    // A power failure takes back what nobody was told; the reaper has checks of its own.
    if (written.by === "power") continue;
    if (written.by === "reaper") checkReaper(written, broken);
    else checkWrite(written, broken);
    checkNotApplied(written, evidence, broken);
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
  tag === "claimed" || tag === "unknown" || tag === "held" || tag === "queued";

function checkWrite({ at, by, before, after, leaseBefore }: Written, broken: Broken): void {
  if (!before) return;
  const op = opOfRecord(before);
  const from = before.state;
  if (from.tag === "committed" && after?.state.tag !== "committed") {
    broken("I7 what is settled stays settled", `${op}: committed, then ${after?.state.tag}`);
  }
  if (
    from.tag === "not_applied" &&
    after &&
    !["not_applied", "claimed", "committed"].includes(after.state.tag)
  ) {
    broken("I7 what is settled stays settled", `${op}: not_applied, then ${after.state.tag}`);
  }
  if (after && after.epoch < before.epoch) {
    broken("I7 fencing", `${op}: epoch ${before.epoch}, then ${after.epoch}`);
  }
  if (from.tag !== "claimed") return;
  const owner = hostOf(from.holder);
  const to = after?.state;
  if (to?.tag === "claimed") {
    const taken = to.holder !== from.holder;
    if (taken && leaseBefore !== undefined && at < leaseBefore) {
      broken(
        "I7 fencing",
        `${op}: taken over by ${by} ${leaseBefore - at} ms before its lease ended`,
      );
    }
    return;
  }
  const byPerson = to && "by" in to && to.by !== undefined;
  if (!byPerson && owner !== by) {
    broken("I7 fencing", `${op}: owned by ${owner}, but ${by} made it ${to?.tag ?? "vanish"}`);
  }
}

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
  const lie = effects.find((effect) => effect.op === op && effect.sent.at < at);
  if (!lie) return;
  const said = `the ledger said not_applied (${after.state.reason}) at ${at}`;
  broken(
    "I5 not applied is true for ever",
    `${op} ${id.slice(0, 6)}: ${said}, but ${show(lie.sent)}`,
  );
}

/** Every send is made under a claim of the sender's own, which names the attempt. */
function checkSends({ sends, history }: Evidence, broken: Broken): void {
  for (const sent of sends) {
    const last = history
      .slice(0, sent.ledgerAt)
      .findLast(({ before, after }) => opOfRecord(after ?? before ?? NOBODY) === sent.op);
    const record = last?.after;
    if (record?.state.tag !== "claimed" || hostOf(record.state.holder) !== sent.by) {
      const there = record ? record.state.tag : "nothing";
      broken("I3 claimed before it is sent", `${show(sent)}: the ledger has ${there}`);
    } else if (!record.attempts.some(({ n }) => n === sent.attempt)) {
      broken("I3 claimed before it is sent", `${show(sent)}: the attempt is not noted`);
    }
  }
}

const NOBODY = { aliases: [], id: "" } as unknown as OperationRecord;
