import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FaultyService, startFaultyService } from "../../src/testing/faulty-service.ts";
import { canTrace } from "../crash/trace.ts";
import { isProof, SIZE } from "../proof.ts";
import { type Swath, type Sweep, sweepCall } from "./sweep.ts";

/** Every system call in a proof, else every tenth. */
const EVERY = isProof ? 1 : 10;
const SWEEPS: readonly Sweep[] = [
  { class: "keyed", ledger: "new" },
  { class: "readable", ledger: "used" },
  { class: "neither", ledger: "used" },
];
const possible = await canTrace();

describe.runIf(possible).each(SWEEPS)(
  `a fault at each system call: $class, $ledger ledger (${SIZE})`,
  (sweep) => {
    const folder = mkdtempSync(join(tmpdir(), "holdfire-sweep-"));
    let service: FaultyService;
    let swath: Swath;

    beforeAll(async () => {
      service = await startFaultyService();
      const started = performance.now();
      swath = await sweepCall(sweep, service, folder, EVERY);
      const seconds = (performance.now() - started) / 1_000;
      process.stdout.write(`${tableOf(sweep, swath)}, ${seconds.toFixed(0)} s\n`);
    }, 600_000);
    afterAll(async () => {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test("done once, or known to be in doubt, whichever it is", () => {
      expect(swath.broken).toEqual([]);
    });

    test("the sweep meets the log, its syncs, the witness, the connection and the send", () => {
      const met = swath.points.map(({ call, target }) => `${call} ${target}`);
      for (const point of ["pwrite64 log", "fsync log", "rename witness", "connect service"]) {
        expect(met).toContain(point);
      }
      expect(met.some((point) => /^(?:write|writev|sendto|sendmsg) service$/.test(point))).toBe(
        true,
      );
      // A thread that wrote would have to be swept, too.
      expect(swath.elsewhere).toEqual([]);
    });

    test("every aim was met, by a kill and by an error", () => {
      expect(swath.missed).toEqual([]);
      const faults = new Set(swath.trials.map(({ fault }) => fault));
      expect([...faults].sort()).toEqual(["error", "kill"]);
    });
  },
);

function tableOf(sweep: Sweep, { points, trials, broken }: Swath): string {
  const counts = new Map<string, number>();
  for (const { fault, struck } of trials) {
    const word = `${fault}: ${struck.told?.status ?? "nobody told"}`;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const tally = [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
  const what = `${sweep.class} on a ${sweep.ledger} ledger, ${points.length} system calls`;
  return `sweep: ${what}, ${trials.length} strikes, ${broken.length} promises broken (${tally})`;
}
