/** Pays once, and is stopped after the attempt was noted and before its request is sent. */

import { hangUp, hear, tell } from "./parent.ts";
import { openPayments, type Paid, type Started } from "./stopped-tools.ts";

const { hf, pay } = openPayments(await hear<Started>("start"), async () => {
  await tell({ tag: "stopping" });
  process.kill(process.pid, "SIGSTOP");
});
const { status } = await pay.outcome({ order: "o1" }, { scope: "job" });
await tell<Paid>({ tag: "paid", status });
await hf.close();
hangUp();
