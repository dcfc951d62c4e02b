import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { startFaultyService } from "../../src/testing/faulty-service.ts";
import { SIZE, sized } from "../proof.ts";
import { canTrace, provenCalls, type TracedCall, traced } from "./trace.ts";

const CALLS = sized("CALLS", 1_000);
const CALLER = fileURLToPath(new URL("caller.ts", import.meta.url));
const possible = await canTrace();
const root = mkdtempSync(join(tmpdir(), "holdfire-trace-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Traced {
  /** How many calls were made, how many requests arrived, and how many of them were proven. */
  readonly calls: number;
  readonly arrivals: number;
  readonly proven: number;
}

async function trace(durability: string, count: number, atOnce: number): Promise<Traced> {
  await using service = await startFaultyService();
  const folder = mkdtempSync(join(root, "run-"));
  const file = join(folder, "trace");
  const ledger = join(folder, "ledger", "ledger.db");
  const script = [CALLER, ledger, durability, service.url, String(count), String(atOnce)];
  const calls = JSON.parse(await traced(file, script)) as readonly TracedCall[];
  const proven = (await provenCalls(file, calls)).length;
  rmSync(file);
  return { calls: calls.length, arrivals: service.arrivals.length, proven };
}

describe.runIf(possible)(`the first byte of a request (${CALLS} calls; ${SIZE})`, () => {
  test.each([1, 20])(
    "leaves after its claim was synced to disk, with %i calls at once",
    async (atOnce) => {
      const { calls, arrivals, proven } = await trace("full", CALLS, atOnce);
      process.stdout.write(
        `write-ahead: ${proven} of ${calls} claims on disk before their request, ${atOnce} at once\n`,
      );
      expect({ calls, arrivals, proven }).toEqual({ calls: CALLS, arrivals: CALLS, proven: CALLS });
    },
    300_000,
  );

  test("leaves before that where the disk is not waited for, and the trace tells", async () => {
    const { calls, arrivals, proven } = await trace("process", 20, 1);
    expect({ calls, arrivals, proven }).toEqual({ calls: 20, arrivals: 20, proven: 0 });
  }, 60_000);
});
