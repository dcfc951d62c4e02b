import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { guardTools } from "../../../src/integrations/ai/index.ts";
import type { ToolRules } from "../../../src/integrations/shared/tools/rules.ts";
import { PAY_SCHEMA, type PayArguments } from "../../../src/testing/adapter-contract.ts";
import type { Saying, ToolSaying } from "../../servers/model-server.ts";
import { envelopes, modelSaying, openHoldfire } from "../shared/scripted.ts";

const pay = (amount: number): ToolSaying => ({ tool: "pay", args: { paymentId: "p1", amount } });
const resource = ({ paymentId }: PayArguments) => `payment/${paymentId}`;

/** A program that calls again with the very messages that it had, as a retry around `generateText` does. */
function openProgram(rules: Partial<ToolRules>, isLost: boolean) {
  const paid: number[] = [];
  const execute = async ({ amount }: PayArguments) => {
    paid.push(amount);
    if (isLost && paid.length === 1) throw new TypeError("fetch failed");
    return { amount };
  };
  const inputSchema = jsonSchema<PayArguments>(PAY_SCHEMA as never);
  const tools = guardTools(
    { pay: tool({ inputSchema, execute }) },
    openHoldfire(),
    { pay: { kind: "write", ...rules } },
    { thread: "chat-7" },
  );
  const messages: ModelMessage[] = [{ role: "user", content: "Pay p1" }];
  async function run(isStream: boolean, ...sayings: readonly Saying[]) {
    const server = await modelSaying(...sayings);
    const model = createOpenAI({ apiKey: "x", baseURL: server.openai }).chat("m");
    const options = { model, tools, messages, stopWhen: isStepCount(4), maxRetries: 0 };
    if (isStream) await streamText(options).consumeStream();
    else await generateText(options);
    return envelopes(server);
  }
  return { paid, run, tools };
}

describe.each([
  ["generateText", false],
  ["streamText", true],
])("%s, called again with the same messages", (_, isStream) => {
  it("holds a payment in other words after one that is unknown", async () => {
    const { paid, run } = openProgram({}, true);
    expect(await run(isStream, pay(400))).toMatchObject([{ outcome: "unknown" }]);
    expect(await run(isStream, pay(401))).toMatchObject([{ outcome: "held" }]);
    expect(paid).toEqual([400]);
  });

  it("holds a payment in other words after one that was made", async () => {
    const { paid, run } = openProgram({ resource }, false);
    expect(await run(isStream, pay(400))).toMatchObject([{ outcome: "committed" }]);
    expect(await run(isStream, pay(401))).toMatchObject([{ outcome: "held" }]);
    expect(paid).toEqual([400]);
  });

  it("makes the payments of one run, in one step and in several", async () => {
    const { paid, run } = openProgram({ resource }, false);
    await run(isStream, { calls: [pay(400), pay(401)] }, pay(402), pay(403));
    expect(paid).toEqual([400, 401, 402, 403]);
    const told = await run(isStream, { calls: [pay(400), pay(401)] }, pay(402), pay(403));
    expect(told.map(({ replayed }) => replayed)).toEqual([true, true, true, true]);
  });
});

it("a run that goes on after an approval, with messages from a store, is the same run", async () => {
  const { paid, tools } = openProgram({ resource }, false);
  const asking = {
    pay: { ...tools.pay, needsApproval: ({ amount }: PayArguments) => amount === 401 },
  };
  const server = await modelSaying(pay(400), pay(401), pay(402));
  const model = createOpenAI({ apiKey: "x", baseURL: server.openai }).chat("m");
  const options = { model, tools: asking, stopWhen: isStepCount(4), maxRetries: 0 };
  const messages: ModelMessage[] = [{ role: "user", content: "Pay p1" }];
  const { steps, content } = await generateText({ ...options, messages });
  const asked = content.find(({ type }) => type === "tool-approval-request");
  const { approvalId } = asked as { approvalId: string };
  const kept = structuredClone([...messages, ...steps.flatMap((step) => step.response.messages)]);
  const yes = { type: "tool-approval-response", approvalId, approved: true } as const;
  await generateText({ ...options, messages: [...kept, { role: "tool", content: [yes] }] });
  expect(paid).toEqual([400, 401, 402]);
});
