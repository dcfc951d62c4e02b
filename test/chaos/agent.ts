/**
 * An agent of `examples/` as a program of its own, with holdfire or without: what `holdfire chaos` is run on. Its bank,
 * token endpoint and model are elsewhere.
 *
 *   node test/chaos/agent.ts '{"name":"ai", …}'
 *
 * @module
 */

import pRetry from "p-retry";
import { runProgram } from "../../bench/frameworks/program.ts";
import { WORDS } from "../../bench/frameworks/stage.ts";
import { approveAll } from "../../examples/support/person.ts";
import { oauthBankOf } from "../../examples/support/world.ts";
import { createHoldfire } from "../../src/create.ts";

export interface AgentOrder {
  /** Of the program in `examples/`. */
  readonly name: string;
  readonly isGuarded: boolean;
  /** Its payouts wait for a person, who approves them; then it is run again. */
  readonly asks?: boolean;
  /** The run is made again when it fails. */
  readonly isRetried?: boolean;
  readonly bank: string;
  readonly tokens: string;
  readonly model: { readonly openai: string; readonly anthropic: string };
}

if (import.meta.main) {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const order: AgentOrder = JSON.parse(process.argv[2] ?? "");
  const { name, isGuarded, asks, isRetried, bank, tokens, model } = order;
  const retry = { minDelayMs: 1, maxDelayMs: 1 };
  const hf = isGuarded ? createHoldfire({ app: "chaos", retry }) : undefined;
  const stage = {
    cell: crypto.randomUUID(),
    hf,
    model,
    bank: oauthBankOf({ url: bank }, "readable", { url: tokens }),
    pay: () => Promise.reject(new Error("The bank pays.")),
  };
  const run = () => runProgram(name, stage, { said: [WORDS] });
  if (hf && asks) {
    await run();
    await approveAll(process.env.HOLDFIRE_STORE ?? "", "ana");
  }
  await (isRetried ? pRetry(run, { retries: 1, minTimeout: 1 }) : run());
  await hf?.close();
  // Some frameworks keep timers.
  process.exit(0);
}
