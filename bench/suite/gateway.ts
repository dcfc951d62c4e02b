/**
 * The gateway's share of a tool call, as its own bench measures it: that is run once for each round.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NO_FIGURES } from "./figures.ts";
import type { Part } from "./part.ts";

const BENCH = fileURLToPath(new URL("../gateway.ts", import.meta.url));
const LONGEST_MS = 120_000;
/** Calls of each way in a round; the heap of the gateway is a question of its own bench. */
const ARGS = [BENCH, "--json", "--calls", "150", "--memory-calls", "5"];

interface Answer {
  readonly ways: readonly {
    readonly name: string;
    readonly p50Micros: number;
    readonly p99Micros: number;
  }[];
}

const NAMES: Readonly<Record<string, string>> = {
  bare: "bare pipe",
  unguarded: "gateway, unguarded",
  read: "gateway, a read",
  write: "gateway, a guarded write",
};

export const gateway: Part = {
  groups: ["gateway"],
  async measure(_wanted, { rounds }, report) {
    const answers: Answer[] = [];
    try {
      for (let round = 1; round <= rounds; round += 1) {
        report(`gateway, round ${round} of ${rounds}`, false);
        const options = { timeout: LONGEST_MS, maxBuffer: 1 << 24 };
        const { stdout } = await promisify(execFile)(process.execPath, ARGS, options);
        answers.push(JSON.parse(stdout) as Answer);
      }
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      const why = `bench/gateway.ts ended with ${code}`;
      return { ...NO_FIGURES, notRun: [{ group: "gateway", name: "gateway", why }] };
    }
    report("gateway done", true);
    const series = Object.entries(NAMES).map(([way, name]) => {
      const of = (key: "p50Micros" | "p99Micros") =>
        answers.flatMap(({ ways }) =>
          ways.filter((one) => one.name === way).map((one) => one[key]),
        );
      const rounds = { p50Us: of("p50Micros"), p99Us: of("p99Micros") };
      return { group: "gateway", name, at: "", rounds };
    });
    return { series, notRun: [] };
  },
};
