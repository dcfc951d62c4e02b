/** `interrupt()` inside a guarded tool: it is thrown for the graph, not for the model. */
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, HumanMessage, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { guardMiddleware, guardTool } from "../../../src/integrations/langchain/index.ts";
import { envelopes, modelSaying, openHoldfire } from "../shared/scripted.ts";

const THREAD = { configurable: { thread_id: "conversation-7" } };
const schema = { type: "object", properties: {} } as const;

/** An agent whose only tool asks a person by `interrupt()`. */
async function askingAgent(way: "tool" | "middleware", kind: "read" | "write") {
  const hf = openHoldfire();
  let runs = 0;
  const ask = tool(
    async () => {
      runs += 1;
      return { answer: interrupt("Which account?") };
    },
    { name: "ask", description: "Asks a person.", schema },
  );
  const server = await modelSaying({ tool: "ask", args: {} });
  const configuration = { baseURL: server.openai };
  const agent = createAgent({
    model: new ChatOpenAI({ model: "m", apiKey: "x", maxRetries: 0, configuration }),
    tools: [way === "tool" ? guardTool(ask, hf, kind) : ask],
    middleware: way === "tool" ? [] : [guardMiddleware(hf, { ask: kind })],
    checkpointer: new MemorySaver(),
  });
  return { agent, server, hf, runs: () => runs };
}

describe.each(["tool", "middleware"] as const)("guarded by %s", (way) => {
  it("a tool that reads asks the person once, and goes on with the answer", async () => {
    const { agent, server, runs } = await askingAgent(way, "read");
    const asked = await agent.invoke({ messages: [new HumanMessage("Pay p1")] }, THREAD);
    expect(asked).toMatchObject({ __interrupt__: [{ value: "Which account?" }] });
    expect(runs()).toBe(1);
    await agent.invoke(new Command({ resume: "savings" }) as never, THREAD);
    expect(envelopes(server)).toMatchObject([{ ok: true, data: { answer: "savings" } }]);
  });

  it("a tool that writes is told what to do in its place", async () => {
    const { agent, server } = await askingAgent(way, "write");
    await agent.invoke({ messages: [new HumanMessage("Pay p1")] }, THREAD);
    const [told] = envelopes(server);
    expect(told).toMatchObject({ outcome: "unknown" });
    expect(told?.message).toContain("must not call interrupt()");
  });
});
