import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from "ai";
import { describe, expect, it } from "vitest";
import { guardTools } from "../../../src/integrations/ai/index.ts";
import { PAY_SCHEMA, type PayArguments } from "../../../src/testing/adapter-contract.ts";
import type { Saying, ToolSaying } from "../../servers/model-server.ts";
import { envelopes, modelSaying, openHoldfire } from "../shared/scripted.ts";

const user = (content: string): ModelMessage => ({ role: "user", content });
const pay = (amount: number): ToolSaying => ({ tool: "pay", args: { paymentId: "p1", amount } });

/** A chat whose first payment is made, and its reply lost. */
function openChat() {
  const paid: number[] = [];
  const hf = openHoldfire();
  const execute = async ({ amount }: PayArguments) => {
    paid.push(amount);
    if (paid.length === 1) throw new TypeError("fetch failed");
    return { amount };
  };
  const inputSchema = jsonSchema<PayArguments>(PAY_SCHEMA as never);
  const tools = guardTools(
    { pay: tool({ inputSchema, execute }) },
    hf,
    { pay: { kind: "write" } },
    { thread: "chat-7" },
  );
  const messages: ModelMessage[] = [];
  /** What the model is told, each time a person has said something. */
  async function say(words: string, ...sayings: readonly Saying[]) {
    messages.push(user(words));
    const server = await modelSaying(...sayings);
    const model = createOpenAI({ apiKey: "x", baseURL: server.openai }).chat("m");
    await generateText({ model, tools, messages, stopWhen: isStepCount(4), maxRetries: 0 });
    messages.push({ role: "assistant", content: "ok" });
    return envelopes(server);
  }
  return { paid, hf, say };
}

describe("a chat in which the reply to a payment was lost", () => {
  it("'try again' makes one payment", async () => {
    const { say, paid } = openChat();
    expect(await say("Pay p1", pay(400))).toMatchObject([{ outcome: "unknown" }]);
    expect(await say("Try again", pay(400))).toMatchObject([{ outcome: "unknown" }]);
    expect(paid).toEqual([400]);
  });

  it("a reworded payment is held, in the same run and after 'try again'", async () => {
    const { say, paid } = openChat();
    expect(await say("Pay p1", pay(400), pay(401))).toMatchObject([
      { outcome: "unknown" },
      { outcome: "held" },
    ]);
    expect(await say("Try again", pay(402))).toMatchObject([{ outcome: "held" }]);
    expect(paid).toEqual([400]);
  });

  it("two payments of one response know nothing of each other", async () => {
    const { say, paid } = openChat();
    const told = await say("Pay both", { calls: [pay(400), pay(401)] });
    expect(told).toMatchObject([{ outcome: "unknown" }, { outcome: "committed" }]);
    expect(paid).toEqual([400, 401]);
  });
});
