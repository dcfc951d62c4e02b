import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  type ToolApprovalResponse,
  ToolLoopAgent,
  type ToolSet,
  tool,
} from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { attemptOf, guardTools, statusTool } from "../../../src/integrations/ai/index.ts";
import {
  type AdapterSetup,
  adapterContract,
  PAY_SCHEMA,
  type PayArguments,
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

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const THREAD = "conversation-7";
const stopWhen = isStepCount(4);
const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } };
const user = (content: string): ModelMessage => ({ role: "user", content });

const chatOf = ({ openai: baseURL }: ModelServer) =>
  createOpenAI({ apiKey: "x", baseURL }).chat("m");
const claudeOf = ({ anthropic }: ModelServer) =>
  createAnthropic({ apiKey: "x", baseURL: `${anthropic}/v1` })("m");

type Go = (setup: {
  readonly server: ModelServer;
  readonly tools: ReturnType<typeof contractTools>;
  readonly messages: ModelMessage[];
  readonly abortSignal?: AbortSignal;
}) => Promise<unknown>;

function contractTools({ hf, definition }: Omit<AdapterSetup, "call">) {
  const pay = tool({
    inputSchema: jsonSchema<PayArguments>(PAY_SCHEMA as never),
    execute: (input, options) => definition.run(input, attemptOf(options)),
  });
  return guardTools({ pay }, hf, { pay: rulesOf(definition) }, { thread: THREAD });
}

/** The words of the person are the scope: what the contract calls a scope is what a person asked for. */
const driven =
  (go: Go) =>
  async (setup: AdapterSetup): Promise<{ text: string }> => {
    const { toolCallId: id, args, scope, signal } = setup.call;
    const server = await saying({ tool: "pay", args, id });
    try {
      const stop = signal ? { abortSignal: signal } : {};
      await go({ server, tools: contractTools(setup), messages: [user(scope)], ...stop });
      return { text: toolTexts(server)[0] ?? "" };
    } finally {
      await server.close();
    }
  };

adapterContract("ai: generateText", {
  drive: driven(({ server, ...rest }) =>
    generateText({ model: chatOf(server), stopWhen, maxRetries: 0, ...rest }),
  ),
  hand(setup) {
    const { pay } = contractTools(setup);
    return async ({ args, messages, toolCallId }) =>
      pay.execute?.(args, { toolCallId, messages: messages as ModelMessage[], context: {} });
  },
});

adapterContract("ai: streamText, Anthropic", {
  drive: driven(async ({ server, ...rest }) => {
    const { stream } = streamText({
      model: claudeOf(server),
      stopWhen,
      maxRetries: 0,
      onError: () => {},
      ...rest,
    });
    for await (const _ of stream);
  }),
});

adapterContract("ai: ToolLoopAgent", {
  drive: driven(({ server, tools, ...rest }) => {
    const model = createOpenAI({ apiKey: "x", baseURL: server.openai })("m");
    return new ToolLoopAgent({ model, tools, maxRetries: 0 }).generate(rest);
  }),
});

/** A tool that counts, in the place of a service. */
function counted(
  hf = openHoldfire(),
  options: Parameters<typeof guardTools>[3] = { thread: THREAD },
) {
  const paid: { readonly input: PayArguments; readonly key: string }[] = [];
  const pay = tool({
    description: "Pays.",
    inputSchema: z.object({
      paymentId: z.string(),
      amount: z.number(),
      note: z.string().optional(),
    }),
    execute: async (input, given) => {
      paid.push({ input, key: attemptOf(given).key });
      return { id: `po_${paid.length}` };
    },
  });
  const rules = {
    kind: "write",
    intent: ({ paymentId, amount }: PayArguments) => ({ paymentId, amount }),
    alsoDoes: ["e-mails the payee"],
  } as const;
  return { hf, paid, pay, tools: guardTools({ pay }, hf, { pay: rules }, options) };
}

async function ask(
  server: ModelServer,
  tools: ReturnType<typeof counted>["tools"],
  messages: ModelMessage[],
) {
  return generateText({ model: chatOf(server), tools, messages, stopWhen, maxRetries: 0 });
}

describe("one request of a person", () => {
  it("a run started again as a whole has one effect", async () => {
    const { tools, paid } = counted();
    for (const system of ["It is 10:00.", "It is 10:01."]) {
      const server = await modelSaying({ text: "..." }, PAY);
      await generateText({ model: chatOf(server), tools, system, prompt: "Hi", maxRetries: 0 });
      const messages = [
        user("Hi"),
        { role: "assistant", content: system } as const,
        user("Pay p1"),
      ];
      await ask(server, tools, messages);
    }
    expect(paid).toHaveLength(1);
  });

  it("a person who asks again, in the same words and in the same chat, is served again", async () => {
    const { tools, paid } = counted();
    const messages = [user("Pay p1")];
    await ask(await modelSaying(PAY), tools, messages);
    messages.push({ role: "assistant", content: "Done." }, user("Thanks"));
    await ask(await modelSaying({ text: "You are welcome." }), tools, messages);
    messages.push({ role: "assistant", content: "You are welcome." }, user("Pay p1"));
    await ask(await modelSaying(PAY), tools, messages);
    await ask(await modelSaying(PAY), tools, structuredClone(messages));
    expect(paid).toHaveLength(2);
  });

  it("a prompt alone does not tell two requests apart; a scope for each does", async () => {
    const hf = openHoldfire();
    const asked = async ({ tools }: ReturnType<typeof counted>) =>
      generateText({
        model: chatOf(await modelSaying(PAY)),
        tools,
        prompt: "Pay p1",
        stopWhen,
        maxRetries: 0,
      });
    const byThread = [counted(hf), counted(hf)];
    for (const stage of byThread) await asked(stage);
    expect(byThread.map(({ paid }) => paid.length)).toEqual([1, 0]);
    const byRequest = ["request-1", "request-1", "request-2"].map((scope) =>
      counted(hf, { scope }),
    );
    for (const stage of byRequest) await asked(stage);
    expect(byRequest.map(({ paid }) => paid.length)).toEqual([1, 0, 1]);
  });

  it("the model repeats the call with a new id and reordered arguments: one effect", async () => {
    const { tools, paid } = counted();
    const again = { tool: "pay", args: '{"note":"please","amount":400.0,"paymentId":"p1"}' };
    const server = await modelSaying(PAY, again);
    await ask(server, tools, [user("Pay p1")]);
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([
      { ok: true, replayed: false, data: { id: "po_1" } },
      { ok: true, replayed: true, effect: "noop", data: { id: "po_1" } },
    ]);
  });

  it("two identical calls at once: one effect, and both are answered", async () => {
    const { tools, paid } = counted();
    const server = await modelSaying({ calls: [PAY, PAY] });
    await ask(server, tools, [user("Pay p1")]);
    expect(paid).toHaveLength(1);
    expect(envelopes(server).map(({ replayed }) => replayed)).toEqual([false, true]);
  });

  it("an approval sent twice: one effect", async () => {
    const { tools, paid } = counted();
    const server = await modelSaying(PAY);
    const asked = await generateText({
      model: chatOf(server),
      tools,
      toolApproval: { pay: "user-approval" },
      messages: [user("Pay p1")],
    });
    expect(paid).toHaveLength(0);
    const request = asked.content.find(({ type }) => type === "tool-approval-request");
    const { approvalId } = request as unknown as { approvalId: string };
    const yes: ToolApprovalResponse = {
      type: "tool-approval-response",
      approvalId,
      approved: true,
    };
    const messages: ModelMessage[] = [
      user("Pay p1"),
      ...asked.response.messages,
      { role: "tool", content: [yes] },
    ];
    for (const _ of [1, 2]) {
      await generateText({
        model: chatOf(server),
        tools,
        toolApproval: { pay: "user-approval" },
        messages: structuredClone(messages),
      });
    }
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ replayed: true, data: { id: "po_1" } }]);
  });

  it("the same words in two forms are the same words", async () => {
    const { tools, paid } = counted();
    const parts: ModelMessage = {
      role: "user",
      content: [{ type: "text", text: "Pay p1", providerOptions: { openai: { cache: "x" } } }],
    };
    await ask(await modelSaying(PAY), tools, [user("Pay p1")]);
    await ask(await modelSaying(PAY), tools, [parts]);
    expect(paid).toHaveLength(1);
  });
});

describe("drift", () => {
  const other = { tool: "pay", args: { paymentId: "p1", amount: 500 } };

  function onOneResource() {
    const { hf, pay, paid } = counted();
    const resource = ({ paymentId }: PayArguments) => `payment/${paymentId}`;
    return {
      paid,
      tools: guardTools({ pay }, hf, { pay: { kind: "write", resource } }, { thread: THREAD }),
    };
  }

  it("several writes in one run, in one step or in several, are simply several", async () => {
    const { tools, paid } = onOneResource();
    const third = { tool: "pay", args: { paymentId: "p1", amount: 600 } };
    await ask(await modelSaying({ calls: [PAY, other] }, third), tools, [user("Pay p1")]);
    expect(paid).toHaveLength(3);
  });

  it("a run started again that wants something else is held", async () => {
    const { tools, paid } = onOneResource();
    await ask(await modelSaying(PAY), tools, [user("Pay p1")]);
    const server = await modelSaying(other);
    await ask(server, tools, [user("Pay p1")]);
    expect(envelopes(server)).toMatchObject([{ outcome: "held" }]);
    expect(paid).toHaveLength(1);
  });
});

describe("two requests", () => {
  it("asked again in the same words, it happens again", async () => {
    const { tools, paid } = counted();
    const server = await modelSaying(PAY);
    const first = await ask(server, tools, [user("Pay p1")]);
    const next = [user("Pay p1"), ...first.response.messages, user("Pay p1")];
    await ask(await modelSaying(PAY), tools, next);
    await ask(await modelSaying(PAY), tools, next);
    expect(paid).toHaveLength(2);
    expect(new Set(paid.map(({ key }) => key)).size).toBe(2);
  });

  it("the same words in another thread are another request", async () => {
    const { hf, pay, paid } = counted();
    for (const thread of ["a", "b"]) {
      await ask(await modelSaying(PAY), guardTools({ pay }, hf, { pay: "write" }, { thread }), [
        user("Pay p1"),
      ]);
    }
    expect(paid).toHaveLength(2);
  });
});

describe("where the scope comes from", () => {
  it("a thread may stand in the context of the tool", async () => {
    const { hf, paid } = counted();
    const pay = tool({
      inputSchema: z.object({ paymentId: z.string(), amount: z.number() }),
      contextSchema: z.object({ chat: z.string() }),
      execute: async (_, { context }) => {
        paid.push({ input: {} as never, key: context.chat });
        return { chat: context.chat };
      },
    });
    const tools = guardTools(
      { pay },
      hf,
      { pay: "write" },
      { thread: ({ context }) => context.chat },
    );
    for (const chat of ["a", "b", "a"]) {
      const model = chatOf(await modelSaying(PAY));
      await generateText({
        model,
        tools,
        toolsContext: { pay: { chat } },
        prompt: "Pay",
        stopWhen,
      });
    }
    expect(paid.map(({ key }) => key)).toEqual(["a", "b"]);
  });

  it("hf.scope around the run wins, and an explicit scope wins over that", async () => {
    const { hf, tools, paid, pay } = counted();
    const run = async (words: string, given = tools) =>
      ask(await modelSaying(PAY), given, [user(words)]);
    await hf.scope("job-1", () => run("Pay p1"));
    await hf.scope("job-1", () => run("Pay p1, please"));
    expect(paid).toHaveLength(1);
    const job2 = guardTools({ pay }, hf, { pay: "write" }, { scope: () => "job-2" });
    await hf.scope("job-1", () => run("Pay p1", job2));
    await run("Pay", job2);
    expect(paid).toHaveLength(2);
  });

  it("without anything stable it throws, names the line, and nothing is paid", async () => {
    const { tools, paid } = counted(undefined, {});
    const result = await ask(await modelSaying(PAY), tools, [user("Pay p1")]);
    const failed = result.steps[0]?.content.find(({ type }) => type === "tool-error");
    expect(failed).toMatchObject({ error: { code: "ERR_HOLDFIRE_MISSING_SCOPE" } });
    expect(String((failed as { error: Error }).error)).toContain(
      "{ thread: chatId } to guardTools",
    );
    expect(paid).toHaveLength(0);
  });

  it("a thread alone is no scope: somebody must have asked", async () => {
    const { tools, paid } = counted();
    const nobody: ModelMessage[] = [{ role: "assistant", content: "I will pay." }];
    const result = await ask(await modelSaying(PAY), tools, nobody);
    expect(result.steps[0]?.content.map(({ type }) => type)).toContain("tool-error");
    expect(paid).toHaveLength(0);
  });
});

describe("what the model sees", () => {
  const zodSchema = z.object({ to: z.string(), idempotency_key: z.string().min(30) });
  const refined = zodSchema.refine(({ to }) => to !== "nobody");
  const json = {
    type: "object",
    properties: { to: { type: "string" }, idempotency_key: { type: "string" } },
    required: ["to", "idempotency_key"],
    additionalProperties: false,
  } as const;

  it.each([
    ["zod", zodSchema],
    ["refined zod", refined],
    ["JSON Schema", jsonSchema<{ to: string }>(json as never)],
    ["a promise of it", jsonSchema<{ to: string }>(async () => json as never)],
    ["a lazy schema", () => jsonSchema<{ to: string }>(json as never)],
  ])("idempotency_key is hidden and filled: %s", async (_, inputSchema) => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const unused: unknown[] = [];
    hf.on("warning", (event) => {
      if (event.code === "key_unused") unused.push(event);
    });
    const send = tool({
      inputSchema: inputSchema as typeof zodSchema,
      execute: async (input) => {
        got.push(input);
        return "sent";
      },
    });
    const tools = guardTools(
      { send },
      hf,
      { send: { kind: "write", keyed: { forMs: 60_000 } } },
      { thread: "t" },
    );
    // The model writes one all the same the second time.
    const sneaky = { to: "ana", idempotency_key: "mine" };
    const server = await modelSaying(
      { tool: "send", args: { to: "ana" } },
      { tool: "send", args: inputSchema === zodSchema ? sneaky : { to: "ana" } },
    );
    await generateText({ model: chatOf(server), tools, prompt: "Send", stopWhen });
    const { schema } = shownTool(server);
    expect(Object.keys(schema.properties)).toEqual(["to"]);
    expect(schema.required).toEqual(["to"]);
    const { items } = await hf.operations.list();
    expect(items).toHaveLength(1);
    expect(got).toEqual([{ to: "ana", idempotency_key: items[0]?.key }]);
    expect(unused).toEqual([]);
  });

  it("reads what else the tool does", async () => {
    const { tools } = counted();
    const server = await modelSaying(PAY);
    await ask(server, tools, [user("Pay p1")]);
    expect(shownTool(server).description).toBe("Pays.\nIt also e-mails the payee.");
  });

  it("a tool's own way to show its data stays, behind the envelope", async () => {
    const hf = openHoldfire();
    const draw = tool({
      inputSchema: z.object({}),
      execute: async function* () {
        yield "half";
        yield "whole";
      },
      toModelOutput: ({ output }) => ({ type: "text", value: `picture: ${output}` }),
    });
    const server = await modelSaying({ tool: "draw", args: {} });
    const tools = guardTools({ draw }, hf, { draw: "write" }, { thread: "t" });
    await generateText({ model: claudeOf(server), tools, prompt: "Draw", stopWhen });
    const read = JSON.stringify(server.arrivals[1]?.body?.messages);
    expect(read).toContain("picture: whole");
    expect(read).toContain("Do not call again for the same request");
  });

  it("a read needs no scope and may be made again", async () => {
    const hf = openHoldfire();
    let reads = 0;
    const look = tool({ inputSchema: z.object({}), execute: async () => ++reads });
    const server = await modelSaying({ tool: "look", args: {} }, { tool: "look", args: {} });
    const tools = guardTools({ look }, hf, { look: "read" });
    await generateText({ model: chatOf(server), tools, prompt: "Look", stopWhen });
    expect(reads).toBe(2);
    expect(envelopes(server)).toMatchObject([{ data: 1, message: "Done." }, { data: 2 }]);
  });

  it("looks up what became of a call, in a later turn too, and sees no other thread", async () => {
    const { hf } = counted();
    const lose = tool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new TypeError("fetch failed");
      },
    });
    const options = { thread: "t" };
    const tools = guardTools({ lose }, hf, { lose: "write" }, options);
    const server = await modelSaying({ tool: "lose", args: {} });
    const first = await generateText({ model: chatOf(server), tools, prompt: "Go", stopWhen });
    const [lost] = envelopes(server);
    expect(lost).toMatchObject({ outcome: "unknown" });
    const question = { tool: "operation_status", args: { operation: lost?.operation ?? "" } };
    const messages = [user("Go"), ...first.response.messages, user("And?")];
    for (const [thread, outcome] of [
      ["t", "unknown"],
      ["u", "not_found"],
    ] as const) {
      const model = await modelSaying(question);
      const operation_status = statusTool(hf, { thread });
      await generateText({ model: chatOf(model), tools: { operation_status }, messages, stopWhen });
      expect(envelopes(model).at(-1)).toMatchObject({ ok: false, outcome });
    }
  });
});

it("what a tool gives is typed as the envelope around it", async () => {
  const { tools } = counted();
  const server = await modelSaying(PAY);
  const { steps } = await ask(server, tools, [user("Pay p1")]);
  const [result] = steps[0]?.staticToolResults ?? [];
  const id: string | undefined = result?.output.data?.id;
  expect(id).toBe("po_1");
});

it("a set of tools that nobody typed is guarded, too", async () => {
  const { hf, pay, paid } = counted();
  const untyped: ToolSet = { pay };
  const tools = guardTools(untyped, hf, { pay: { kind: "write" } }, { thread: THREAD });
  const model = chatOf(await modelSaying(PAY, PAY));
  await generateText({ model, tools, prompt: "Pay p1", stopWhen });
  expect(paid).toHaveLength(1);
});

it("rules for a tool that is not there are refused", () => {
  const { hf, pay } = counted();
  const rules = { pay: "write", pya: { kind: "write" } } as const;
  expect(() => guardTools({ pay }, hf, rules)).toThrow(/rules\.pya/);
});

it("attemptOf is for guarded tools only", () => {
  expect(() => attemptOf({ toolCallId: "x" })).toThrow(/guarded tool/);
});
