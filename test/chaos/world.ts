/**
 * The services of the agents that `holdfire chaos` is run on, in this process, and the command itself in another.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { PAY } from "../../bench/frameworks/stage.ts";
import { startTokens } from "../../examples/support/tokens.ts";
import type { Report } from "../../src/cli/chaos/report.ts";
import { type FaultyService, startFaultyService } from "../../src/testing/faulty-service.ts";
import { type Ended, start } from "../cli/start.ts";
import { type Arrival, type Saying, startModelServer } from "../servers/model-server.ts";
import { type Message, textsIn } from "../servers/tool-texts.ts";
import type { AgentOrder } from "./agent.ts";

const AGENT = fileURLToPath(new URL("agent.ts", import.meta.url));

export interface ChaosTest extends Ended {
  readonly report: Report;
  readonly service: FaultyService;
}

/** Runs an agent of `examples/` under `holdfire chaos`. */
export async function testAgent(
  agent: Pick<AgentOrder, "name" | "isGuarded" | "asks" | "isRetried">,
  ...options: readonly string[]
): Promise<ChaosTest> {
  const tokens = await startTokens();
  const model = await startModelServer();
  model.onArrival((arrival) => model.script({ act: "say", saying: nextSaying(arrival) }));
  await using service = await startFaultyService();
  const { openai, anthropic } = model;
  const order = { ...agent, bank: service.url, tokens: tokens.url, model: { openai, anthropic } };
  try {
    const command = [process.execPath, AGENT, JSON.stringify(order satisfies AgentOrder)];
    const ended = await start(["chaos", "--json", ...options, "--", ...command], process.cwd());
    return { ...ended, report: ended.out === "" ? undefined : JSON.parse(ended.out), service };
  } finally {
    await Promise.all([model.close(), tokens.close()]);
  }
}

/** Asks for the payout until it has read that it is made. */
function nextSaying({ body }: Arrival): Saying {
  const messages = (body?.messages ?? body?.input ?? []) as readonly Message[];
  const results = messages.flatMap(textsIn);
  return results.length < 3 && !results.some(isPaid) ? PAY : { text: "ok" };
}

function isPaid(result: string): boolean {
  try {
    const { id, ok, outcome } = JSON.parse(result);
    return typeof id === "string" || ok === true || outcome === "held";
  } catch {
    return false;
  }
}
