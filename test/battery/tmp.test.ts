import { test } from "vitest";
import { createHits } from "./world/fates.ts";
import { createWorld } from "./world/world.ts";
test("smoke", async () => {
  const w = createWorld({ seed: 1, hits: createHits() });
  const t0 = performance.now();
  for (const tool of ["K","R","KR","C","CR","N","L","KU","RB","RU","X"] as const) {
    for (const f of ["ok","lost-reply","late-commit","slow"] as const) {
    const c = w.call(w.process(0), { tool, scope: "s", what: "a", again: f, fates: [f] });
    await w.time.advance(15_000);
    console.log(tool, f, c.outcome?.status, (c.outcome as any)?.reason, c.outcome?.attempts, c.error, w.service.effects.filter(e=>e.op===c.op).length, c.endedAt! - c.at);
    }
  }
  console.log(performance.now()-t0);
});
