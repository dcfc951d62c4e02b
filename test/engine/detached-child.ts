/**
 * A process whose first call loads the engine inside a caller's context, and whose reply is lost. A reconcile that
 * somebody else starts sends it again. Prints the context that each attempt ran in.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { createHoldfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";

const user = new AsyncLocalStorage<string>();
const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
const sentAs: string[] = [];
const pay = hf.tool({
  name: "pay",
  kind: "write",
  keyed: { forMs: 86_400_000 },
  attempts: 1,
  run: (_: object, { key }) => {
    sentAs.push(user.getStore() ?? "nobody");
    if (sentAs.length === 1) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
    return key;
  },
});
await user.run("ana", () => pay.outcome({}, { scope: "s" }));
await user.run("ben", () => hf.reconcile({ resend: true }));
await hf.close();
console.log(JSON.stringify(sentAs));
