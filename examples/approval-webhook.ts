/**
 * A webhook: a payout waits for a person, who is told by a webhook and answers by another one. One payout.
 *
 *     npx node examples/approval-webhook.ts
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { absent, committed, createHoldfire, type HoldfireEvents } from "holdfire";
import { memoryStore } from "holdfire/memory";
import { startOffice } from "./support/office.ts";
import { type Payout, startWorld } from "./support/world.ts";

const { bank, end } = await startWorld();
const office = await startOffice();
// Yours would be createHoldfire({ app }): its ledger is a file, and outlives the process.
const hf = createHoldfire({ app: "payments-example", store: memoryStore() });

const payOut = hf.tool({
  name: "pay_out",
  kind: "destructive", // a person must approve it
  run: (payout: Payout, { key, signal }) => bank.pay(payout, { key, signal }),
  readState: async ({ key, signal }) => {
    const [found] = await bank.find(key, { signal });
    return found ? committed(found, { effectId: found.id }) : absent();
  },
});

const sign = (body: string): Buffer => createHmac("sha256", office.secret).update(body).digest();

// Out: each question, and what became of it. An event has no arguments; the question has.
async function tell({ status, id, tool, by }: HoldfireEvents["approval"]): Promise<void> {
  const question = status === "asked" ? await hf.approvals.get(id) : undefined;
  const { digest, expiresAt, shown } = question ?? {};
  const body = JSON.stringify({ status, id, tool, by, digest, expiresAt, shown });
  const headers = { "content-type": "application/json", "x-signature": sign(body).toString("hex") };
  await fetch(office.url, { method: "POST", headers, body });
}

const telling = new Set<Promise<void>>();
hf.on("approval", (event) => {
  // Detached: a call may be made inside an attempt of another one, and this request is no part of it.
  telling.add(hf.detached(() => tell(event).catch((error) => console.error(error))));
});

// In: the answer, if it is signed, for the question that the digest names.
const answers = createServer(async (request, response) => {
  const body = await text(request);
  const given = Buffer.from(String(request.headers["x-signature"]), "hex");
  const wanted = sign(body);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    response.writeHead(401).end();
    return;
  }
  const { id, digest, approve, by } = JSON.parse(body);
  try {
    await hf.approvals[approve ? "approve" : "deny"](id, { digest, by });
    response.writeHead(204).end();
  } catch (error) {
    // It has changed, has expired, or was answered before.
    response.writeHead(409).end(error instanceof Error ? error.message : "");
  }
});
await new Promise<void>((resolve) => answers.listen(0, "127.0.0.1", resolve));
office.answersTo = `http://127.0.0.1:${(answers.address() as AddressInfo).port}`;

const call = () => payOut.outcome({ payee: "ana", cents: 40_00 }, { scope: "invoice-7" });

const held = await call();
console.log(held.status);
const decision = await hf.approvals.wait(held.id, { deadlineMs: 60_000 });
console.log(decision.status);
// A yes fires nothing by itself. The reply of this call is lost, and the payout is found.
console.log((await call()).status);
await Promise.all(telling);
answers.close();
await end(hf, office);
