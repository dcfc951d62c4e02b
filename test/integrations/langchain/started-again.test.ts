import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { expect, it } from "vitest";
import { guardTool } from "../../../src/integrations/langchain/index.ts";
import { PAY_SCHEMA, type PayArguments } from "../../../src/testing/adapter-contract.ts";
import type { Saying, ToolSaying } from "../../servers/model-server.ts";
import { envelopes, modelSaying, openHoldfire } from "../shared/scripted.ts";

const pay = (amount: number): ToolSaying => ({ tool: "pay", args: { paymentId: "p1", amount } });

/** A program that invokes again with the very message that it had. */
function openProgram() {
  const paid: number[] = [];
  const own = tool(
    async ({ amount }: PayArguments) => {
      paid.push(amount);
      return "paid";
    },
    { name: "pay", description: "Pays.", schema: PAY_SCHEMA as never },
  );
  const guarded = guardTool(
    own,
    openHoldfire(),
    { kind: "write", resource: () => "payment/p1" },
    { thread: "chat-7" },
  );
  const message = new HumanMessage("Pay p1");
  async function run(...sayings: readonly Saying[]) {
    const server = await modelSaying(...sayings);
    const configuration = { baseURL: server.openai };
    const model = new ChatOpenAI({ model: "m", apiKey: "x", maxRetries: 0, configuration });
    await createAgent({ model, tools: [guarded] }).invoke({ messages: [message] });
    return envelopes(server);
  }
  return { paid, run, guarded };
}

it("an agent that is invoked again with the same message holds a payment in other words", async () => {
  const { paid, run } = openProgram();
  expect(await run(pay(400))).toMatchObject([{ outcome: "committed" }]);
  expect(await run(pay(401))).toMatchObject([{ outcome: "held" }]);
  expect(paid).toEqual([400]);
});

it("the payments of one run are made, in one step and in several", async () => {
  const { paid, run } = openProgram();
  await run({ calls: [pay(400), pay(401)] }, pay(402), pay(403));
  expect(paid).toEqual([400, 401, 402, 403]);
});

it("a run that goes on after a person has approved is the same run", async () => {
  const { paid, guarded } = openProgram();
  const server = await modelSaying(pay(400), pay(401));
  const configuration = { baseURL: server.openai };
  const model = new ChatOpenAI({ model: "m", apiKey: "x", maxRetries: 0, configuration });
  const agent = createAgent({
    model,
    tools: [guarded],
    checkpointer: new MemorySaver(),
    middleware: [humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never) as never],
  }) as unknown as { invoke(input: unknown, config: unknown): Promise<unknown> };
  const config = { configurable: { thread_id: "chat-7" } };
  await agent.invoke({ messages: [new HumanMessage("Pay p1")] }, config);
  for (let approved = 0; approved < 2; approved += 1) {
    await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
  }
  expect(paid).toEqual([400, 401]);
});
