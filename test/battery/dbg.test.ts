import { test } from "vitest";
import { createHits } from "./world/fates.ts";
import { createWorld } from "./world/world.ts";
test("dbg", async () => {
for (let seed = 0; seed < 100; seed++) for (const ms of [700]) {
  const w = createWorld({ seed, hits: createHits() });
  w.call(w.process(0), {"tool":"R","scope":"s1","what":"a", fates: ["slow-late"], heeds: true, deadlineMs: 1650});
  await w.time.advance(ms);
  w.process(0).freeze("suspended");
  await w.time.advance(3_500);
  await w.process(0).thaw("replies");
  await w.time.advance(1_200);
  const c2 = w.call(w.process(1), {"tool":"R","scope":"s1","what":"a"});
  await w.time.advance(20000);
  const c = w.calls[0]!;
  if (w.service.effects.length > 1) console.log("DUP", seed, ms, c.outcome?.status, (c.outcome as any)?.reason, c2.outcome?.status, w.service.effects.map(e => e.at - 1.8e12), w.service.sends.map(e => e.at - 1.8e12));
}}, 100000);
