import { ChatOpenAI } from "@langchain/openai";
import {
  type BaseMessage,
  createAgent,
  HumanMessage,
  summarizationMiddleware,
  tool,
} from "langchain";
import { describe, expect, it } from "vitest";
import { guardTool } from "../../../src/integrations/langchain/index.ts";
import { PAY_SCHEMA, type PayArguments } from "../../../src/testing/adapter-contract.ts";
import type { Saying } from "../../servers/model-server.ts";
import { modelSaying, openHoldfire, toolTexts } from "../shared/scripted.ts";

const THREAD = { configurable: { thread_id: "conversation-7" } };
const OK: Saying = { text: "ok" };
const pay = (amount: number): Saying => ({ tool: "pay", args: { paymentId: "p1", amount } });

/** A conversation whose first payment is made, and its reply lost; and all that the model says in it. */
async function openChat(...sayings: readonly Saying[]) {
  return chatWith(false, ...sayings);
}

async function chatWith(isShortened: boolean, ...sayings: readonly Saying[]) {
  const paid: number[] = [];
  const hf = openHoldfire();
  const plain = tool(
    async (input: unknown) => {
      const { amount } = input as PayArguments;
      paid.push(amount);
      if (paid.length === 1) throw new TypeError("fetch failed");
      return { amount };
    },
    { name: "pay", description: "Pays.", schema: PAY_SCHEMA },
  );
  const guarded = guardTool(plain, hf, { kind: "write" });
  let messages: BaseMessage[] = [];
  // One server: a message with the id of an earlier one would take its place.
  const server = await modelSaying(...sayings);
  const configuration = { baseURL: server.openai };
  const model = new ChatOpenAI({ model: "m", apiKey: "x", maxRetries: 0, configuration });
  const length = { trigger: { messages: 3 }, keep: { messages: 2 } };
  // Its types do not fit its own agent under `exactOptionalPropertyTypes`.
  const shorten = summarizationMiddleware({ model, ...length } as never) as never;
  const agent = createAgent({ model, tools: [guarded], middleware: isShortened ? [shorten] : [] });
  /** What the model was told last, after a person has said something. */
  async function say(words: string) {
    const ended = await agent.invoke(
      { messages: [...messages, new HumanMessage(words)] },
      THREAD as never,
    );
    messages = ended.messages;
    return JSON.parse(toolTexts(server).at(-1) ?? "{}") as { readonly outcome?: string };
  }
  return { paid, say, told: () => toolTexts(server).length };
}

describe("a conversation in which the reply to a payment was lost", () => {
  it("'try again' makes one payment", async () => {
    const { say, paid, told } = await openChat(pay(400), OK, pay(400), OK);
    expect((await say("Pay p1")).outcome).toBe("unknown");
    expect((await say("Try again")).outcome).toBe("unknown");
    expect(told()).toBe(2);
    expect(paid).toEqual([400]);
  });

  it.each([
    ["repeated", 400, "unknown"],
    ["reworded", 401, "held"],
  ])(
    "a payment that is %s after the person's words were summarized is not made",
    async (...row) => {
      const [, amount, outcome] = row;
      const summary: Saying = { text: "Somebody wants p1 paid." };
      const { say, paid, told } = await chatWith(true, pay(400), summary, pay(amount), summary, OK);
      expect((await say("Pay p1")).outcome).toBe(outcome);
      expect(told()).toBe(1);
      expect(paid).toEqual([400]);
    },
  );

  it("a reworded payment is held, in the same run and in a later turn", async () => {
    const { say, paid, told } = await openChat(pay(400), pay(401), OK, pay(402), OK);
    expect((await say("Pay p1")).outcome).toBe("held");
    expect((await say("Try again")).outcome).toBe("held");
    expect(told()).toBe(3);
    expect(paid).toEqual([400]);
  });
});
