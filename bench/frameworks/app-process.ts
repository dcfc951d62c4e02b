/**
 * A program of `examples/` as a process of its own, which can be killed and started again: its ledger is a file, OpenTelemetry
 * is on, and bank, token endpoint and model are elsewhere. Prints what its spans say became of each tool call.
 *
 *   node bench/frameworks/app-process.ts '{"name":"ai", …}'
 *
 * @module
 */

import { trace } from "../../examples/support/telemetry.ts";
import { oauthBankOf } from "../../examples/support/world.ts";
import { createHoldfire } from "../../src/create.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { runProgram } from "./program.ts";

export interface AppOrder {
  /** Of the program in `examples/`. */
  readonly name: string;
  /** What persons have said, once for each run, in order. */
  readonly runs: readonly (readonly string[])[];
  readonly ledger: string;
  readonly bank: string;
  readonly tokens: string;
  readonly model: { readonly openai: string; readonly anthropic: string };
}

/** A dead owner is believed alive for this long: shorter than usual, so that nobody waits for the restart. */
const LEASE_MS = 1_000;

if (import.meta.main) {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const { name, runs, ledger, bank, tokens, model }: AppOrder = JSON.parse(process.argv[2] ?? "");
  const hf = createHoldfire({
    app: "apps",
    store: sqliteStore({ path: ledger }),
    retry: { minDelayMs: 1, maxDelayMs: 1, leaseMs: LEASE_MS },
  });
  const spans = trace(hf);
  const stage = {
    cell: crypto.randomUUID(),
    hf,
    model,
    bank: oauthBankOf({ url: bank }, "readable", { url: tokens }),
    pay: () => Promise.reject(new Error("The bank pays.")),
  };
  for (const said of runs) await runProgram(name, stage, { said });
  await hf.close();
  const calls = spans()
    .map(({ attributes }) => attributes)
    .filter((call) => call["gen_ai.operation.name"] === "execute_tool")
    .filter((call) => call["holdfire.tool.kind"] !== "read");
  console.log(JSON.stringify(calls.map((call) => call["holdfire.outcome"])));
  // Some frameworks keep timers.
  process.exit(0);
}
