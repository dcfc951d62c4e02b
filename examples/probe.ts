import { pathToFileURL } from "node:url";
import pRetry from "p-retry";
import { absent, committed, createHoldfire } from "../src/index.ts";
import { memoryStore } from "../src/stores/memory.ts";
import { faults, startFaultyService } from "../src/testing/faulty-service.ts";
void pathToFileURL;
const service = await startFaultyService();
const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
hf.on("attempt", (e) => console.log("attempt", e.attempt, e.licence));
hf.on("reading", (e) => console.log("reading", e.reading));
const client = service.client("readable");
service.plan(faults.commitThenReset());
const t0 = Date.now();
await pRetry(() => client.create({ invoice: "i", amount: 400 }), { retries: 2, minTimeout: 50 });
console.log(service.arrivals, service.effects, service.reads, Date.now() - t0);
service.plan(faults.commitThenReset());
const pay = hf.tool({
  name: "pay_out",
  kind: "write",
  readState: async ({ key, signal }) => {
    const [found] = await client.find({ key }, { signal });
    return found ? committed(found, { effectId: found.id }) : absent();
  },
  run: (args: { payee: string; cents: number }, { key, signal }) => client.create(args, { key, signal }),
});
console.log(await pay.outcome({ payee: "a", cents: 1 }, { scope: "s" }), Date.now() - t0);
const blind = service.client("neither");
service.plan(faults.commitThenReset());
const mail = hf.tool({ name: "wire", kind: "write", run: (args: { payee: string; cents: number }) => blind.create(args) });
console.log(await mail.outcome({ payee: "a", cents: 1 }, { scope: "s" }));
console.log(await mail.outcome({ payee: "a", cents: 1 }, { scope: "s" }));
console.log(await mail.reply({ payee: "a", cents: 1 }, { scope: "s" }), (await hf.operations.list({ open: true })).items);
await hf.close();
await service.close();
console.log(Date.now() - t0);
