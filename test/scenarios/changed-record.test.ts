/** What only this process knows of its attempts stays known when the record has changed under a decision. */
import { expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

test("a run that never took its key is not sent again by that key, though a late write has changed the record", async () => {
  const { hf, clock, pass, track } = await openWorld();
  const bank = await startService((_, response) => response.writeHead(201).end());
  let isFoundFrom = Number.POSITIVE_INFINITY;
  let fail = () => {};
  let sendLate = async () => {};
  let runs = 0;
  const post = () => fetch(bank.url, { method: "POST", body: "{}" });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    keyed: { forMs: 86_400_000 },
    attemptTimeoutMs: 10_000,
    deadlineMs: 300_000,
    commitsWithinMs: 10_000,
    readState: () => (clock.monotonic() >= isFoundFrom ? committed("paid") : absent()),
    run: async () => {
      runs += 1;
      if (runs > 1) await track(post());
      else {
        // Begun inside the attempt, and sent after its end.
        const left = new Promise<void>((resolve) => {
          sendLate = async () => {
            resolve();
            await late;
          };
        });
        const late = left.then(post).then(
          () => {},
          () => {},
        );
        await new Promise((_, reject) => {
          fail = () => reject(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
        });
      }
      return "paid";
    },
  });
  const outcome = pay.outcome({}, { scope: "job-1" });
  await clock.settle();
  await clock.advance(12_000);
  fail();
  await clock.advance(9_000);
  expect(runs).toBe(1);
  await sendLate();
  isFoundFrom = clock.monotonic() + 9_000;
  expect(await pass(outcome)).toMatchObject({ status: "committed", via: "read" });
  expect(runs).toBe(1);
  expect(bank.arrived).toHaveLength(1);
});
