/**
 * The three acts, played by an agent: AI SDK, MCP, HTTP. The model, the fault and the bank are the same in
 * all of them.
 *
 * @module
 */

import { absent, committed, createHoldfire } from "holdfire";
import { guardMcpClient } from "holdfire/mcp";
import { memoryStore } from "holdfire/memory";
import { type Act, askPerson, PROMISED } from "../../src/cli/demo/acts.ts";
import type { Scene } from "../../src/cli/demo/scene.ts";
import { startPaymentsMcp } from "../support/payments-mcp.ts";
import { bankOf } from "../support/world.ts";
import { DONE, runAgent } from "./agent.ts";

/** One request of a person, whatever becomes of the run. */
const SCOPE = "conversation-7/turn-3";

const outcomeOf = (said: string): string => (said === DONE ? "done" : "unknown");

async function alone(scene: Scene): Promise<string> {
  const server = await startPaymentsMcp(bankOf(scene.bank, "readable"), "pay_out");
  const mcp = await server.connect();
  const said = await runAgent(mcp, "pay_out", scene);
  await closeAll(mcp, server);
  return outcomeOf(said);
}

async function guarded(scene: Scene): Promise<string> {
  const server = await startPaymentsMcp(bankOf(scene.bank, "readable"), "pay_out");
  const client = await server.connect();
  const hf = createHoldfire({ app: "demo", store: memoryStore() });
  scene.watch(hf);
  const mcp = guardMcpClient(client, hf, {
    tools: {
      find_payouts: "read",
      pay_out: {
        kind: "write",
        readState: async ({ key }) => {
          const found = await client.callTool({ name: "find_payouts", arguments: { key } });
          const [{ text }] = found.content as [{ text: string }];
          return JSON.parse(text).length > 0 ? committed(found) : absent();
        },
      },
    },
  });
  // A ledger that was just made has forgotten nothing: it need not be read first.
  const said = await hf.scope(SCOPE, () => runAgent(mcp, "pay_out", scene), { fresh: true });
  await closeAll(hf, client, server);
  return outcomeOf(said);
}

async function blind(scene: Scene): Promise<string> {
  const fax = bankOf(scene.bank, "neither");
  // A fax has no place for a key, and cannot be asked.
  const server = await startPaymentsMcp({ pay: (payout) => fax.pay(payout) }, "pay_out_by_fax");
  const client = await server.connect();
  // The memory store takes such a tool only from someone who says that forgetting is acceptable.
  const hf = createHoldfire({ app: "demo", store: memoryStore({ forgets: "accepted" }) });
  scene.watch(hf);
  const mcp = guardMcpClient(client, hf, { tools: { pay_out_by_fax: "write" } });
  const run = () => hf.scope(SCOPE, () => runAgent(mcp, "pay_out_by_fax", scene));
  const first = outcomeOf(await run());
  await askPerson(hf, scene);
  scene.say("run", "is started again");
  const second = outcomeOf(await run());
  await closeAll(hf, client, server);
  return `${first}, then ${second}`;
}

async function closeAll(...open: readonly { close(): Promise<void> }[]): Promise<void> {
  for (const one of open) await one.close();
}

export const AGENT_ACTS: readonly Act[] = [
  {
    title: "As everybody does it: the model hears of an error, and calls again",
    promised: PROMISED.alone,
    play: alone,
  },
  {
    title: "The same model, the same loss, with holdfire",
    promised: PROMISED.guarded,
    play: guarded,
  },
  { title: "A tool with neither key nor read", promised: PROMISED.blind, play: blind },
];
