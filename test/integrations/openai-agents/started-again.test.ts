import { Agent, OpenAIChatCompletionsModel, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { guardTool } from "../../../src/integrations/openai-agents/index.ts";
import type { ToolRules } from "../../../src/integrations/shared/tools/rules.ts";
import { PAY_SCHEMA, type PayArguments } from "../../../src/testing/adapter-contract.ts";
import type { Saying, ToolSaying } from "../../servers/model-server.ts";
import { envelopes, modelSaying, openHoldfire, toolTexts } from "../shared/scripted.ts";

const pay = (amount: number): ToolSaying => ({ tool: "pay", args: { paymentId: "p1", amount } });
const resource = ({ paymentId }: PayArguments) => `payment/${paymentId}`;

interface Program {
  readonly rules?: Partial<ToolRules>;
  /** Of the SDK's own definition. */
  readonly more?: object;
  readonly execute?: () => unknown;
}

function openProgram({ rules = {}, more = {}, execute = () => undefined }: Program) {
  const paid: number[] = [];
  const definition = {
    name: "pay",
    description: "Pays.",
    parameters: PAY_SCHEMA as never,
    strict: false as const,
    ...more,
    async execute(args: unknown) {
      paid.push((args as PayArguments).amount);
      await execute();
      return "paid";
    },
  };
  const rule = { kind: "write" as const, ...rules };
  const own = tool(guardTool(definition, openHoldfire(), rule, { scope: "chat-7/1" }) as never);
  const runner = new Runner({ tracingDisabled: true });
  async function run(...sayings: readonly Saying[]) {
    const server = await modelSaying(...sayings);
    const client = new OpenAI({ apiKey: "x", baseURL: server.openai, maxRetries: 0 });
    const model = new OpenAIChatCompletionsModel(client as never, "m");
    await runner.run(new Agent({ name: "clerk", model, tools: [own] }), "Pay p1");
    return server;
  }
  return { paid, run };
}

describe("runs of one scope", () => {
  it("hold a payment in other words after one that was made in an earlier run", async () => {
    const { paid, run } = openProgram({ rules: { resource } });
    expect(envelopes(await run(pay(400)))).toMatchObject([{ outcome: "committed" }]);
    expect(envelopes(await run(pay(401)))).toMatchObject([{ outcome: "held" }]);
    expect(paid).toEqual([400]);
  });

  it("make the payments of one run, in one step and in several", async () => {
    const { paid, run } = openProgram({ rules: { resource } });
    await run({ calls: [pay(400), pay(401)] }, pay(402));
    expect(paid).toEqual([400, 401, 402]);
  });
});

describe("a tool with a timeout of the SDK", () => {
  let end = () => {};
  afterEach(() => end());
  /** Goes on until the test is over: longer than the timeout, however slow the machine is. */
  const slow = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });

  it("tells the model that the call may still land", async () => {
    const { paid, run } = openProgram({ more: { timeoutMs: 50 }, execute: slow });
    expect(envelopes(await run(pay(400)))).toMatchObject([
      { ok: false, outcome: "in_progress", message: expect.stringContaining("may still land") },
    ]);
    expect(paid).toEqual([400]);
  });

  it("ends the run where that was asked for", async () => {
    const more = { timeoutMs: 50, timeoutBehavior: "raise_exception" };
    const { run } = openProgram({ more, execute: slow });
    await expect(run(pay(400))).rejects.toThrow("timed out");
  });

  it("has the words that it was given", async () => {
    const more = { timeoutMs: 50, timeoutErrorFunction: () => "Slow today." };
    const { run } = openProgram({ more, execute: slow });
    expect(toolTexts(await run(pay(400)))).toEqual(["Slow today."]);
  });
});
