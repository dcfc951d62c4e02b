/**
 * Whether the heap stays flat over many calls, in a process of its own.
 *
 * @module
 */

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Part } from "./part.ts";

/** So many samples in each half of the calls. */
export const SAMPLES = 9;

export const heap: Part = {
  groups: ["heap"],
  async measure(_wanted, { big, quick }, report) {
    const calls = quick ? 9_000 : big ? 1_000_000 : 90_000;
    const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-heap-"));
    const child = fork(
      fileURLToPath(new URL("heap-child.ts", import.meta.url)),
      [String(calls), folder],
      { cwd: folder, execArgv: ["--expose-gc"], stdio: ["ignore", 2, 2, "ipc"] },
    );
    try {
      const samples: number[] = [];
      await new Promise<void>((resolve, reject) => {
        child.on("message", (heapMb: number) => {
          samples.push(heapMb);
          report(`heap: ${samples.length} of ${2 * SAMPLES} samples over ${calls} calls`, false);
        });
        child.once("error", reject);
        child.once("exit", (code) =>
          code === 0 ? resolve() : reject(new Error(`The process of the heap ended with ${code}.`)),
        );
      });
      report("heap done", true);
      const half = (name: string, heapMb: readonly number[]) => ({
        group: "heap",
        name,
        at: "",
        rounds: { heapMb },
      });
      const series = [
        half("first half", samples.slice(0, SAMPLES)),
        half("second half", samples.slice(SAMPLES)),
      ];
      return { series, notRun: [] };
    } finally {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
