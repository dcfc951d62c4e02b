import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import type { BetaMessageParam } from "@anthropic-ai/sdk/resources/beta";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  attemptOf,
  guardTools,
  runToolCalls,
  statusTool,
} from "../../../src/integrations/anthropic/index.ts";
import {
  type AdapterSetup,
  adapterContract,
  PAY_SCHEMA,
  type PayArguments,
  type PayDefinition,
} from "../../../src/testing/adapter-contract.ts";
import type { ModelServer } from "../../servers/model-server.ts";
import {
  envelopes,
  modelSaying,
  openHoldfire,
  rulesOf,
  saying,
  shownTool,
  toolTexts,
} from "../shared/scripted.ts";

const thread = "conversation-7";
const base = { model: "m", max_tokens: 1_024 };
const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } };
const user = (content: string) => ({ role: "user", content }) as const;
const payInput = z.object({
  paymentId: z.string(),
  amount: z.number(),
  note: z.string().optional(),
});

const clientOf = ({ anthropic: baseURL }: ModelServer) =>
  new Anthropic({ apiKey: "x", baseURL, maxRetries: 0 });

const driven =
  (go: (server: ModelServer, setup: AdapterSetup) => Promise<unknown>) =>
  async (setup: AdapterSetup) => {
    const { toolCallId: id, args } = setup.call;
    const server = await saying({ tool: "pay", args, id });
    try {
      await go(server, setup);
      return { text: toolTexts(server)[0] ?? "" };
    } finally {
      await server.close();
    }
  };

/** A tool of this SDK gives text. */
const zodTool = ({ definition }: Pick<AdapterSetup, "definition">) =>
  betaZodTool({
    name: "pay",
    description: "Pays.",
    inputSchema: payInput,
    run: async (args, context) => JSON.stringify(await definition.run(args, attemptOf(context))),
  });

const runner =
  (how: object) =>
  async (server: ModelServer, setup: AdapterSetup): Promise<void> => {
    const { hf, definition, call } = setup;
    const messages = [user(call.scope)];
    const tools = guardTools([zodTool(setup)], hf, textRules(definition), { thread, messages });
    const { signal } = call;
    const { toolRunner } = clientOf(server).beta.messages;
    await toolRunner.call(
      clientOf(server).beta.messages,
      { ...base, messages, tools, ...how } as never,
      { signal } as never,
    );
  };

/** What `run` returns here is text, which has no id. */
const textRules = (definition: PayDefinition) => ({
  pay: { ...rulesOf(definition), effect: { ...definition.effect, id: undefined } },
});

adapterContract("anthropic: toolRunner", {
  drive: driven(runner({})),
  hand({ hf, definition }) {
    const own = zodTool({ definition });
    return async ({ args, messages, toolCallId: id }) => {
      // The runner tells no conversation: a program gives it to the guard, for each of its runs.
      const [pay] = guardTools([own], hf, textRules(definition), { thread, messages });
      return pay.run(args, { toolUse: { id } } as never);
    };
  },
});

adapterContract("anthropic: toolRunner, eager streaming", {
  drive: driven(runner({ stream: true, runToolsEagerly: true })),
});

adapterContract("anthropic: messages in a loop of one's own, hf.tool", {
  drive: driven(async (server, { hf, definition, call: { scope, signal } }) => {
    const client = clientOf(server);
    const tools = [{ name: "pay", input_schema: structuredClone(PAY_SCHEMA) as never }];
    const messages: MessageParam[] = [user(scope)];
    const pay = hf.tool(definition);
    for (;;) {
      const message = await client.messages.create({ ...base, messages, tools }, { signal });
      const results = await runToolCalls(message, [pay], { thread, messages, signal });
      if (results.length === 0) return;
      messages.push({ role: "assistant", content: message.content }, ...results);
    }
  }),
  hand({ hf, definition }) {
    const pay = hf.tool(definition);
    return ({ args: input, messages, toolCallId: id }) =>
      runToolCalls(using(input, id), [pay], { thread, messages });
  },
});

adapterContract("anthropic: messages in a loop of one's own, guardTools", {
  drive: driven(async (server, setup) => {
    const { hf, definition, call } = setup;
    const tools = guardTools([zodTool(setup)], hf, textRules(definition));
    const messages: MessageParam[] = [user(call.scope)];
    const { signal } = call;
    const shown = [{ name: "pay", input_schema: structuredClone(PAY_SCHEMA) as never }];
    for (;;) {
      const body = { ...base, messages, tools: shown };
      const message = await clientOf(server).messages.create(body, { signal });
      const results = await runToolCalls(message, tools, { thread, messages, signal });
      if (results.length === 0) return;
      messages.push({ role: "assistant", content: message.content }, ...results);
    }
  }),
  hand({ hf, definition }) {
    const tools = guardTools([zodTool({ definition })], hf, textRules(definition));
    return ({ args: input, messages, toolCallId: id }) =>
      runToolCalls(using(input, id), tools, { thread, messages });
  },
});

function using(input: PayArguments, id: string) {
  return { content: [{ type: "tool_use", id, name: "pay", input }] };
}

function counted(hf = openHoldfire()) {
  const paid: { readonly args: unknown; readonly key: string }[] = [];
  const pay = betaZodTool({
    name: "pay",
    description: "Pays.",
    inputSchema: payInput,
    run: async (args, context) => {
      paid.push({ args, key: attemptOf(context).key });
      return `{"id":"po_${paid.length}"}`;
    },
  });
  const rules = {
    pay: {
      kind: "write" as const,
      intent: ({ paymentId, amount }: PayArguments) => ({ paymentId, amount }),
      alsoDoes: ["e-mails the payee"],
    },
  };
  const run = (server: ModelServer, messages: BetaMessageParam[], more: object = {}) => {
    const tools = guardTools([pay], hf, rules, { thread, messages });
    return clientOf(server).beta.messages.toolRunner({ ...base, messages, tools, ...more });
  };
  return { hf, paid, pay, rules, run };
}

describe("toolRunner", () => {
  it("a run started again as a whole has one effect; asked again by a person it has two", async () => {
    const { run, paid } = counted();
    const cached = { type: "text", text: "Pay p1", cache_control: { type: "ephemeral" } } as const;
    await run(await modelSaying(PAY), [user("Pay p1")]);
    await run(await modelSaying(PAY), [{ role: "user", content: [cached] }], { system: "Now." });
    expect(paid).toHaveLength(1);
    const next = [user("Pay p1"), { role: "assistant", content: "Done." } as const, user("Pay p1")];
    await run(await modelSaying(PAY), next);
    await run(await modelSaying(PAY), next);
    expect(paid).toHaveLength(2);
    expect(new Set(paid.map(({ key }) => key)).size).toBe(2);
  });

  it("a call repeated with a new id, and twice at once: one effect", async () => {
    const { run, paid } = counted();
    const reworded = { tool: "pay", args: '{"note":"please","amount":400.0,"paymentId":"p1"}' };
    const server = await modelSaying({ calls: [PAY, PAY] }, reworded);
    await run(server, [user("Pay p1")]);
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([
      { replayed: false, data: { id: "po_1" } },
      { replayed: true, data: { id: "po_1" } },
      { replayed: true, data: { id: "po_1" } },
    ]);
  });

  it("started eagerly on a stream that breaks: the next run finds it done", async () => {
    const { run, paid } = counted();
    const eager = { stream: true, runToolsEagerly: true };
    const consume = async (server: ModelServer) => {
      const streams = run(server, [user("Pay p1")], eager) as unknown as AsyncIterable<
        AsyncIterable<unknown>
      >;
      for await (const stream of streams) for await (const _ of stream);
    };
    const breaking = await saying();
    // The call has come and the model has stopped for it; the end of the message never comes.
    breaking.script({ act: "stall", afterEvents: 6, saying: PAY });
    const broken = expect(consume(breaking)).rejects.toThrow();
    await vi.waitFor(() => expect(paid).toHaveLength(1));
    await breaking.close();
    await broken;
    const server = await modelSaying(PAY);
    await consume(server);
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ ok: true, replayed: true }]);
  });

  it("without messages the model is told the line to add, and nothing is paid", async () => {
    const { pay, hf, rules, paid } = counted();
    const tools = guardTools([pay], hf, rules, { thread });
    const server = await modelSaying(PAY);
    const messages = [user("Pay p1")];
    await clientOf(server).beta.messages.toolRunner({ ...base, messages, tools });
    expect(toolTexts(server)[0]).toContain("{ thread, messages } to guardTools");
    expect(paid).toHaveLength(0);
  });
});

describe("what the model sees", () => {
  const shape = { to: z.string(), idempotencyKey: z.string().min(30) };
  const json = {
    type: "object",
    properties: { to: { type: "string" }, idempotencyKey: { type: "string" } },
    required: ["to", "idempotencyKey"],
    additionalProperties: false,
  } as const;

  it.each(["zod", "JSON Schema"])("idempotencyKey is hidden and filled: %s", async (kind) => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const run = async (args: object) => {
      got.push(args);
      return "sent";
    };
    const about = { name: "send", description: "Sends.", run };
    const send =
      kind === "zod"
        ? betaZodTool({ ...about, inputSchema: z.object(shape) })
        : betaTool({ ...about, inputSchema: json });
    const messages = [user("Send")];
    const tools = guardTools([send], hf, { send: "write" }, { thread, messages });
    const server = await modelSaying(
      { tool: "send", args: { to: "ana" } },
      { tool: "send", args: { to: "ana", idempotencyKey: "mine" } },
    );
    await clientOf(server).beta.messages.toolRunner({ ...base, messages, tools });
    expect(Object.keys(shownTool(server).schema.properties)).toEqual(["to"]);
    expect(shownTool(server).schema.required).toEqual(["to"]);
    const { items } = await hf.operations.list();
    expect(got).toEqual([{ to: "ana", idempotencyKey: items[0]?.key }]);
  });

  it("reads what else the tool does, and blocks behind the envelope", async () => {
    const hf = openHoldfire();
    const image = { type: "image", source: { type: "url", url: "https://x.test/a.png" } } as const;
    const draw = betaZodTool({
      name: "draw",
      description: "Draws.",
      inputSchema: z.object({}),
      run: async () => [image],
    });
    const messages = [user("Draw")];
    const rules = { draw: { kind: "write" as const, alsoDoes: ["costs a cent"] } };
    const tools = guardTools([draw], hf, rules, { thread, messages });
    const server = await modelSaying({ tool: "draw", args: {} });
    await clientOf(server).beta.messages.toolRunner({ ...base, messages, tools });
    expect(shownTool(server).description).toBe("Draws.\nIt also costs a cent.");
    expect(envelopes(server)).toMatchObject([{ ok: true, outcome: "committed" }]);
    expect(JSON.stringify(server.arrivals[1]?.body)).toContain("https://x.test/a.png");
  });

  it("can look what became of a call", async () => {
    const { run, hf } = counted();
    const server = await modelSaying(PAY);
    await run(server, [user("Pay p1")]);
    const operation = envelopes(server)[0]?.operation ?? "";
    const messages = [user("Pay p1"), { role: "assistant", content: "Hm." } as const, user("And?")];
    const asking = await modelSaying({ tool: "operation_status", args: { operation } });
    const tools = [statusTool(hf, { thread, messages })];
    await clientOf(asking).beta.messages.toolRunner({ ...base, messages, tools });
    expect(envelopes(asking)).toMatchObject([{ ok: true, outcome: "committed", operation }]);
  });
});

describe("runToolCalls", () => {
  const message = (name: string, input: unknown, stop_reason = "tool_use") => ({
    stop_reason,
    content: [
      { type: "text", text: "I pay." },
      { type: "tool_use", id: "toolu_1", name, input },
    ],
  });

  it("tools of the runner work in a loop of one's own; two turns are two effects", async () => {
    const { pay, hf, rules, paid } = counted();
    const tools = guardTools([pay], hf, rules);
    const first = [user("Pay p1")];
    const result = [{ type: "tool_result", tool_use_id: "toolu_1", content: "…" }];
    const later = [
      ...first,
      { role: "assistant", content: "…" },
      { role: "user", content: result },
    ];
    const second = [...later, user("Pay p1")];
    for (const messages of [first, later, second, structuredClone(second)]) {
      const [answer] = await runToolCalls(message("pay", PAY.args), tools, { thread, messages });
      expect(answer?.content).toMatchObject([{ type: "tool_result", tool_use_id: "toolu_1" }]);
    }
    expect(paid).toHaveLength(2);
  });

  it("a call of a toolset's member is not one of the tool that has its name", async () => {
    const { pay, hf, rules, paid } = counted();
    const tools = guardTools([pay], hf, rules);
    const block = { type: "tool_use", id: "toolu_1", name: "pay", input: PAY.args };
    const content = [{ ...block, toolset_name: "browser" }];
    expect(await runToolCalls({ content }, tools, { scope: "s" })).toEqual([]);
    expect(paid).toHaveLength(0);
  });

  it("a call that was cut off is not made, and a wrong one is told", async () => {
    const { pay, hf, rules, paid } = counted();
    const tools = guardTools([pay], hf, rules);
    for (const wrong of [
      message("pay", PAY.args, "max_tokens"),
      message("pay", { paymentId: 7 }),
      message("pya", {}),
    ]) {
      const [answer] = await runToolCalls(wrong, tools, { scope: "s" });
      expect(JSON.parse(answer?.content[0]?.content as string)).toMatchObject({
        ok: false,
        outcome: "not_applied",
      });
    }
    expect(paid).toHaveLength(0);
    expect(await runToolCalls({ content: [] }, tools, { scope: "s" })).toEqual([]);
    await expect(runToolCalls({} as never, tools, { scope: "s" })).rejects.toThrow(/message:/);
  });
});
