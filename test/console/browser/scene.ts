/**
 * A ledger with something of everything, for looking at.
 *
 * @module
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Holdfire } from "../../../src/create.ts";
import { committed } from "../../../src/engine/define/reading.ts";
import { consoleTools } from "../console-world.ts";

/** As a client's own error. */
const reset = () => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

export async function fillForPictures(
  hf: Holdfire,
): Promise<{ readonly retried: string; readonly unknown: string }> {
  const { refund, note, post, pay } = consoleTools(hf);
  for (let n = 0; n < 24; n += 1) await note({ text: `${n}` }, { scope: `conversation-${n}` });
  const charge = hf.tool({
    name: "charge_card",
    kind: "write",
    keyed: { forMs: 3_600_000 },
    attempts: 3,
    attemptTimeoutMs: 2_000,
    run: async (_: { card: string; cents: number }, { key, attempt }) => {
      void key;
      await pause(60);
      if (attempt < 3) throw reset();
      return { id: "ch_1" };
    },
  });
  const options = { scope: "conversation-7", aliases: ["call_0123456789abcdef"] };
  const { id: retried } = await charge.outcome({ card: "card_8f2", cents: 12_900 }, options);
  const reject = hf.tool({
    name: "create_invoice",
    kind: "write",
    classify: () => "rejected" as const,
    run: (_: { customer: string }) => Promise.reject(new Error("no such customer")),
  });
  await reject.outcome({ customer: "cus_404" }, { scope: "conversation-9" });
  const found = hf.tool({
    name: "send_invoice",
    kind: "write",
    attempts: 1,
    readState: () => committed("sent"),
    run: (_: { customer: string }): Promise<string> => Promise.reject(reset()),
  });
  await found.outcome({ customer: "cus_1" }, { scope: "conversation-11" });
  const { id: unknown } = await pay.outcome(
    { payee: "acme\u202egnp.eciovni" },
    { scope: "conversation-12" },
  );
  await post.outcome({ text: "Your refund is on its way." }, { scope: "conversation-3" });
  await refund.outcome({ payee: "Eve Adams", cents: 4_000 }, { scope: "conversation-3" });
  return { retried, unknown };
}
