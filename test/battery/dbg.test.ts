import { test } from "vitest";
import { createHits } from "./world/fates.ts";
import { createWorld } from "./world/world.ts";
test("dbg", async () => {
  const w = createWorld({ seed: 0, hits: createHits() });
  const log = (c: any) => console.log(c.op, c.spec.what, c.outcome?.status, c.outcome?.reason, c.outcome?.replayed, c.outcome?.attempts, c.error, c.at-1.8e12, (c.endedAt ?? 0)-1.8e12);
  w.call(w.process(0), {"tool":"K","scope":"s1","what":"b","key":"k2","abortAfter":45,heeds:false});
  w.call(w.process(0), {"tool":"K","scope":"s1","what":"a"});
  await w.time.advance(60);
  w.call(w.process(0), {"tool":"K","scope":"s1","what":"a","key":"k2"});
  await w.time.advance(10000);
  for (const c of w.calls) log(c);
  for (const s of w.service.sends) console.log(s);
  for (const h of w.store.history) console.log(h.at-1.8e12, h.by, h.id.slice(0,5), h.before?.state.tag, h.after?.state.tag, h.after?.fingerprint.slice(0,4));
});
