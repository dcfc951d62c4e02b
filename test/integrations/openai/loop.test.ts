import OpenAI from "openai";
import { ResponsesToolRunner, runnerFunction } from "openai/helpers/responses-tool-runner";
import { zodFunction, zodResponsesFunction } from "openai/helpers/zod";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import OpenAI6 from "openai-6";
import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { typed } from "../../../src/engine/define/schema.ts";
import {
  attemptOf,
  guardTools,
  responsesStatusTool,
  runToolCalls,
  statusTool,
} from "../../../src/integrations/openai/index.ts";
import {
  type AdapterSetup,
  adapterContract,
  adapterScenarios,
  handedScenarios,
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

const thread = "conversation-7";
const model = "m";
const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } };
const REWORDED = { tool: "pay", args: '{"note":"please","amount":400.0,"paymentId":"p1"}' };
const parameters = structuredClone(PAY_SCHEMA) as never;
const user = (content: string) => ({ role: "user", content }) as const;

const clientOf = ({ openai: baseURL }: ModelServer) =>
  new OpenAI({ apiKey: "x", baseURL, maxRetries: 0 });

/** The words of the person are the scope. The text is what the model reads in the last request. */
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

const runnable = ({ definition }: Pick<AdapterSetup, "definition">) => ({
  type: "function" as const,
  function: {
    name: "pay",
    description: "Pays.",
    parameters,
    parse: JSON.parse as (raw: string) => PayArguments,
    function: (args: PayArguments) => definition.run(args, attemptOf()),
  },
});

adapterContract("openai: runTools", {
  drive: driven(async (server, setup) => {
    const { hf, definition, call } = setup;
    const tools = guardTools([runnable(setup)], hf, { pay: rulesOf(definition) }, { thread });
    const messages = [user(call.scope)];
    const { signal } = call;
    const runner = clientOf(server).chat.completions.runTools(
      { model, messages, tools },
      { signal },
    );
    await runner.done();
  }),
  hand({ hf, definition }) {
    const own = runnable({ definition });
    const [pay] = guardTools([own], hf, { pay: rulesOf(definition) }, { thread });
    const run = pay.function.function as unknown as (given: object, runner: object) => unknown;
    return async ({ args, messages }) => run({ raw: JSON.stringify(args), args }, { messages });
  },
});

adapterContract("openai 6: runTools", {
  drive: driven(async (server, setup) => {
    const { hf, definition, call } = setup;
    const tools = guardTools([runnable(setup)], hf, { pay: rulesOf(definition) }, { thread });
    const client = new OpenAI6({ apiKey: "x", baseURL: server.openai, maxRetries: 0 });
    const body = { model, messages: [user(call.scope)], tools };
    const { signal } = call;
    await client.chat.completions.runTools(body, signal ? { signal } : {}).done();
  }),
});

adapterContract("openai: runTools, streaming, zod", {
  drive: driven(async (server, setup) => {
    const { hf, definition, call } = setup;
    const zod = zodFunction({
      name: "pay",
      parameters: z.object({
        paymentId: z.string(),
        amount: z.number(),
        note: z.string().nullish(),
      }),
      function: ({ note, ...args }) =>
        definition.run({ ...args, ...(note ? { note } : {}) }, attemptOf()),
    });
    const tools = guardTools([zod], hf, { pay: rulesOf(definition) }, { thread });
    const { signal } = call;
    const body = { model, messages: [user(call.scope)], tools };
    const { completions } = clientOf(server).chat;
    await completions.runTools({ ...body, stream: true }, { signal }).done();
  }),
});

adapterContract("openai: chat completions in a loop of one's own, hf.tool", {
  drive: driven(async (server, { hf, definition, call: { scope, signal } }) => {
    const client = clientOf(server);
    const tools = [{ type: "function", function: { name: "pay", parameters } }] as const;
    const messages: ChatCompletionMessageParam[] = [user(scope)];
    const pay = hf.tool(definition);
    for (;;) {
      const body = { model, messages, tools: [...tools] };
      const completion = await client.chat.completions.create(body, { signal });
      const results = await runToolCalls(completion, { pay }, { thread, messages, signal });
      if (results.length === 0) return;
      const message = completion.choices[0]?.message;
      if (message) messages.push(message, ...results);
    }
  }),
  hand({ hf, definition }) {
    const pay = hf.tool(definition);
    return ({ args, messages, toolCallId: id }) => {
      const asked = { name: "pay", arguments: JSON.stringify(args) };
      const message = { tool_calls: [{ type: "function", id, function: asked }] };
      return runToolCalls({ choices: [{ message }] }, { pay }, { thread, messages });
    };
  },
});

adapterContract("openai: responses in a loop of one's own", {
  drive: driven(async (server, { hf, definition, call: { scope, signal } }) => {
    const client = clientOf(server);
    const runner = {
      tool: { type: "function", name: "pay", parameters, strict: false } as const,
      execute: async (args: Record<string, unknown>) =>
        definition.run(args as unknown as PayArguments, attemptOf()) as never,
    };
    const guarded = guardTools([runner], hf, { pay: rulesOf(definition) });
    const input: ResponseInputItem[] = [user(scope)];
    for (;;) {
      const body = { model, input, tools: guarded.map(({ tool }) => tool) };
      const response = await client.responses.create(body, { signal });
      const results = await runToolCalls(response, guarded, { thread, messages: input, signal });
      if (results.length === 0) return;
      input.push(...(response.output as ResponseInputItem[]), ...results);
    }
  }),
  hand({ hf, definition }) {
    const pay = {
      tool: { type: "function", name: "pay", parameters, strict: false } as const,
      execute: async (args: PayArguments) => definition.run(args, attemptOf()),
    };
    const guarded = guardTools([pay], hf, { pay: rulesOf(definition) });
    return ({ args, messages, toolCallId }) => {
      const asked = { name: "pay", arguments: JSON.stringify(args) };
      const output = [{ type: "function_call", call_id: toolCallId, ...asked }];
      return runToolCalls({ output }, guarded, { thread, messages });
    };
  },
});

test.each(handedScenarios)("adapter contract: openai: ResponsesToolRunner: $name", ({ run }) =>
  run({
    drive: () => Promise.reject(new Error("is not driven here")),
    hand:
      ({ hf, definition }) =>
      ({ args, messages }) => {
        const pay = {
          tool: { type: "function", name: "pay", parameters, strict: false } as const,
          execute: async (input: PayArguments) => definition.run(input, attemptOf()),
        };
        const options = { thread, messages: () => messages };
        const [guarded] = guardTools([pay], hf, { pay: rulesOf(definition) }, options);
        return guarded.execute(args);
      },
  }),
);

/** It stops at an error and tells its functions no tool-call id. */
describe("adapter contract: openai: ResponsesToolRunner", () => {
  for (const { name, run } of adapterScenarios) {
    if (name.startsWith("the tool-call id is kept")) continue;
    test(name, () =>
      run({
        drive: driven(async (server, { hf, definition, call: { scope, signal } }) => {
          const pay = {
            tool: { type: "function", name: "pay", parameters, strict: false } as const,
            execute: async (args: Record<string, unknown>, given: unknown) =>
              definition.run(args as unknown as PayArguments, attemptOf(given)) as never,
          };
          const input: ResponseInputItem[] = [user(scope)];
          const options = { thread, messages: () => input };
          const functions = guardTools([pay], hf, { pay: rulesOf(definition) }, options);
          const runner = new ResponsesToolRunner({ functions });
          const stop = signal ? { signal } : {};
          await runner.run(clientOf(server), { model, input }, stop);
        }),
      }),
    );
  }
});

function counted(hf = openHoldfire()) {
  const paid: { readonly args: unknown; readonly key: string }[] = [];
  const pay = async (args: PayArguments) => {
    paid.push({ args, key: attemptOf().key });
    return { id: `po_${paid.length}` };
  };
  const rules = {
    pay: {
      kind: "write" as const,
      intent: ({ paymentId, amount }: PayArguments) => ({ paymentId, amount }),
      alsoDoes: ["e-mails the payee"],
    },
  };
  const tool = {
    type: "function",
    function: {
      name: "pay",
      description: "Pays.",
      parameters,
      parse: JSON.parse as (raw: string) => PayArguments,
      function: pay,
    },
  } as const;
  return { hf, paid, rules, pay, tool, tools: guardTools([tool], hf, rules, { thread }) };
}

const runTools = (
  server: ModelServer,
  tools: ReturnType<typeof counted>["tools"],
  messages: ChatCompletionMessageParam[],
) => clientOf(server).chat.completions.runTools({ model, messages, tools }).done();

describe("runTools", () => {
  it("a run started again as a whole has one effect; asked again by a person it has two", async () => {
    const { tools, paid } = counted();
    for (const system of ["It is 10:00.", "It is 10:01."]) {
      const messages = [{ role: "system", content: system } as const, user("Pay p1")];
      await runTools(await modelSaying(PAY), tools, messages);
    }
    expect(paid).toHaveLength(1);
    const next = [user("Pay p1"), { role: "assistant", content: "Done." } as const, user("Pay p1")];
    await runTools(await modelSaying(PAY), tools, next);
    await runTools(await modelSaying(PAY), tools, next);
    expect(paid).toHaveLength(2);
    expect(new Set(paid.map(({ key }) => key)).size).toBe(2);
  });

  it("a call repeated with a new id, with the same id, and twice at once: one effect", async () => {
    const { tools, paid, hf } = counted();
    const same = { ...PAY, id: "call_same" };
    const server = await modelSaying({ calls: [same, PAY] }, same, REWORDED);
    await runTools(server, tools, [user("Pay p1")]);
    expect(paid).toHaveLength(1);
    expect(envelopes(server).map(({ replayed }) => replayed)).toEqual([false, true, true, true]);
    const { items } = await hf.operations.list();
    expect(items[0]?.aliases).toContain("call_same");
  });

  it("without a thread it ends in an error that names the line, and nothing is paid", async () => {
    const { tool, hf, rules, paid } = counted();
    const server = await modelSaying(PAY);
    const running = runTools(server, guardTools([tool], hf, rules), [user("Pay p1")]);
    await expect(running).rejects.toThrow("{ thread, messages } to guardTools");
    expect(paid).toHaveLength(0);
  });

  it("a function that takes the raw text gets text, in one order", async () => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const raw = {
      type: "function",
      function: {
        name: "pay",
        description: "Pays.",
        parameters,
        function: (args: string) => {
          got.push(args);
          return "paid";
        },
      },
    } as const;
    const tools = guardTools([raw], hf, { pay: "write" }, { thread });
    const flipped = { tool: "pay", args: '{"amount":400,"paymentId":"p1"}' };
    const server = await modelSaying(PAY, flipped);
    const messages = [user("Pay p1")];
    await clientOf(server).chat.completions.runTools({ model, messages, tools }).done();
    expect(got).toEqual(['{"amount":400,"paymentId":"p1"}']);
  });
});

describe("what the model sees", () => {
  const withKey = z.object({ to: z.string(), idempotency_key: z.string().min(30) });
  const sent = (got: unknown[]) => (args: unknown) => {
    got.push(args);
    return "sent";
  };
  const SEND = { tool: "send", args: { to: "ana" } };

  it("idempotency_key is hidden and filled: runTools, zod", async () => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const send = zodFunction({ name: "send", parameters: withKey, function: sent(got) });
    const tools = guardTools([send], hf, { send: "write" }, { thread });
    const sneaky = { tool: "send", args: { to: "ana", idempotency_key: "mine" } };
    const server = await modelSaying(SEND, sneaky);
    const messages = [user("Send")];
    await clientOf(server).chat.completions.runTools({ model, messages, tools }).done();
    expect(Object.keys(shownTool(server).schema.properties)).toEqual(["to"]);
    expect(shownTool(server).schema.required).toEqual(["to"]);
    const { items } = await hf.operations.list();
    expect(got).toEqual([{ to: "ana", idempotency_key: items[0]?.key }]);
  });

  it("idempotency_key is hidden and filled: ResponsesToolRunner, zod", async () => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const zod = zodResponsesFunction({ name: "send", parameters: withKey, function: sent(got) });
    const input = [user("Send")];
    const [send] = guardTools([zod], hf, { send: "write" }, { thread, messages: input });
    const runner = new ResponsesToolRunner({ functions: [runnerFunction(send)] });
    const server = await modelSaying(SEND);
    await runner.run(clientOf(server), { model, input });
    expect(Object.keys(shownTool(server).schema.properties)).toEqual(["to"]);
    const { items } = await hf.operations.list();
    expect(got).toEqual([{ to: "ana", idempotency_key: items[0]?.key }]);
  });

  it("reads what else the tool does", async () => {
    const { tools } = counted();
    const server = await modelSaying(PAY);
    await runTools(server, tools, [user("Pay p1")]);
    expect(shownTool(server).description).toBe("Pays.\nIt also e-mails the payee.");
  });

  it("can look what became of a call", async () => {
    const hf = openHoldfire();
    const operation_status = hf.statusTool();
    const lose = hf.tool({
      name: "lose",
      kind: "write",
      input: typed<object>(),
      run: async () => {
        throw new TypeError("fetch failed");
      },
    });
    const options = { thread, messages: [user("Go")] };
    const asking = (name: string, args: object, id: string) => ({
      choices: [
        {
          message: {
            tool_calls: [
              { id, type: "function", function: { name, arguments: JSON.stringify(args) } },
            ],
          },
        },
      ],
    });
    const tools = { lose, operation_status };
    const [lost] = await runToolCalls(asking("lose", {}, "call_1"), tools, options);
    const { operation, outcome } = JSON.parse(lost?.content ?? "");
    expect(outcome).toBe("unknown");
    const { items } = await hf.operations.list();
    for (const name of [operation, items[0]?.key, "call_1"]) {
      const question = asking("operation_status", { operation: name }, "call_2");
      const [told] = await runToolCalls(question, tools, options);
      expect(JSON.parse(told?.content ?? "")).toMatchObject({
        outcome: "unknown",
        operation,
        data: { tool: "lose", attempts: 1 },
      });
    }
    const server = await modelSaying({ tool: "operation_status", args: { operation } });
    const chat = [statusTool(hf, { thread })];
    const messages = [user("Go")];
    await clientOf(server).chat.completions.runTools({ model, messages, tools: chat }).done();
    expect(envelopes(server)).toMatchObject([{ outcome: "unknown" }]);
    const other = await modelSaying({ tool: "operation_status", args: { operation } });
    const functions = [responsesStatusTool(hf, { thread: "other", messages })];
    await new ResponsesToolRunner({ functions }).run(clientOf(other), { model, input: messages });
    expect(envelopes(other)).toMatchObject([{ outcome: "not_found" }]);
  });
});

describe("runToolCalls", () => {
  const completion = (calls: readonly object[], finish_reason = "tool_calls") => ({
    choices: [{ finish_reason, message: { tool_calls: calls } }],
  });
  const call = (name: string, args: string, id = "call_1") => ({
    id,
    type: "function",
    function: { name, arguments: args },
  });
  const GOOD = JSON.stringify(PAY.args);

  it("two turns are two effects; a loop started again is one", async () => {
    const { tools, paid } = counted();
    const first = [user("Pay p1")];
    const second = [...first, { role: "assistant", content: "Done." }, user("Pay p1")];
    for (const messages of [first, structuredClone(first), second, structuredClone(second)]) {
      const calls = [call("pay", GOOD, `call_${Math.random()}`)];
      await runToolCalls(completion(calls), tools, { thread, messages });
    }
    expect(paid).toHaveLength(2);
  });

  it("the steps of one loop are one run, a loop started again is another", async () => {
    const { tool, hf, paid } = counted();
    const resource = ({ paymentId }: PayArguments) => `payment/${paymentId}`;
    const tools = guardTools([tool], hf, { pay: { kind: "write", resource } });
    const paying = (amount: number, id: string) => [
      call("pay", JSON.stringify({ paymentId: "p1", amount }), id),
    ];
    const step = async (calls: readonly object[], messages: readonly object[]) => {
      const response = completion(calls);
      const options = { thread, messages: structuredClone(messages) };
      const results = await runToolCalls(response, tools, options);
      return [...messages, { role: "assistant", tool_calls: calls }, ...results];
    };
    const asked = [user("Pay p1 in parts")];
    const after = await step(paying(100, "call_1"), asked);
    await step(paying(200, "call_2"), after);
    expect(paid).toHaveLength(2);
    const held = await step(paying(300, "call_3"), asked);
    expect(JSON.stringify(held.at(-1))).toContain("held");
    expect(paid).toHaveLength(2);
  });

  describe.each([
    ["the tool's name and a count", "pay:0"],
    ["the same with a prefix", "functions.pay:0"],
    ["nothing", ""],
    ["no id at all", undefined],
  ])("where the id of a call is %s", (_, id) => {
    const paying = (amount: number) =>
      completion([{ ...call("pay", JSON.stringify({ paymentId: "p1", amount })), id }]);

    it("a call in other words after an unknown one is held: it is of another response", async () => {
      const paid: number[] = [];
      const lose = ({ amount }: PayArguments) => {
        paid.push(amount);
        throw new TypeError("fetch failed");
      };
      const tools = { pay: openHoldfire().tool({ name: "pay", kind: "write", run: lose }) };
      const asked: object[] = [user("Pay p1")];
      const first = paying(400);
      const told = await runToolCalls(first, tools, { thread, messages: asked });
      const messages = [...asked, first.choices[0]?.message ?? {}, ...told];
      const [held] = await runToolCalls(paying(401), tools, { thread, messages });
      expect(held?.content).toContain("held");
      expect(paid).toEqual([400]);
    });

    it("a loop started again that asks for something else is held", async () => {
      const { tool, hf, paid } = counted();
      const resource = ({ paymentId }: PayArguments) => `payment/${paymentId}`;
      const tools = guardTools([tool], hf, { pay: { kind: "write", resource } });
      const look = { ...call("look", "{}"), id: id?.replace("pay", "look") };
      const start = async (amount: number) => {
        const asked = [user("Pay p1")];
        await runToolCalls(completion([look]), tools, { thread, messages: asked });
        const messages = [...asked, { role: "assistant", tool_calls: [look] }];
        await runToolCalls(paying(amount), tools, { thread, messages });
        return runToolCalls(paying(amount + 1), tools, { thread, messages });
      };
      await start(400);
      expect(paid).toHaveLength(2);
      const [held] = await start(500);
      expect(held?.content).toContain("held");
      expect(paid).toHaveLength(2);
    });
  });

  it("under a scope of one's own, without the conversation, all steps are one run", async () => {
    const { tool, hf, paid } = counted();
    const resource = ({ paymentId }: PayArguments) => `payment/${paymentId}`;
    const tools = guardTools([tool], hf, { pay: { kind: "write", resource } });
    const output = [{ type: "function_call_output", call_id: "call_0", output: "…" }];
    for (const [amount, messages] of [
      [100, undefined],
      [200, output],
    ] as const) {
      const calls = [call("pay", JSON.stringify({ paymentId: "p1", amount }), `call_${amount}`)];
      await runToolCalls(completion(calls), tools, { scope: "job-1", messages });
    }
    expect(paid).toHaveLength(2);
  });

  it("a read of hf.tool needs no scope, a write names the line, an odd id is no obstacle", async () => {
    const hf = openHoldfire();
    const look = hf.tool({ name: "look", kind: "read", run: (_: object) => 7 });
    const pay = hf.tool({ name: "pay", kind: "write", run: (_: object) => 7 });
    const odd = "x".repeat(300);
    const [seen] = await runToolCalls(completion([call("look", "{}", odd)]), { look }, {});
    expect(JSON.parse(seen?.content ?? "")).toMatchObject({ data: 7, message: "Done." });
    const paying = completion([call("pay", "{}", odd)]);
    const missing = runToolCalls(paying, { pay }, {});
    await expect(missing).rejects.toThrow("Pass { thread, messages } to runToolCalls");
    const [paid] = await runToolCalls(paying, { pay }, { scope: "s" });
    expect(JSON.parse(paid?.content ?? "")).toMatchObject({ ok: true });
  });

  it("an explicit scope needs no messages, and hf.scope needs neither", async () => {
    const { tools, paid, hf } = counted();
    const response = completion([call("pay", GOOD)]);
    await runToolCalls(response, tools, { scope: "job-1" });
    await hf.scope("job-1", () => runToolCalls(response, tools, {}));
    expect(paid).toHaveLength(1);
    for (const nothing of [{}, { thread }, { messages: [user("Pay p1")] }]) {
      const running = runToolCalls(response, tools, nothing);
      await expect(running).rejects.toMatchObject({ code: "ERR_HOLDFIRE_MISSING_SCOPE" });
    }
  });

  it("a model's mistakes are told, each call gets an answer, and nothing is sent", async () => {
    const { tools, paid } = counted();
    const calls = [
      call("pya", GOOD, "call_a"),
      call("pay", "{not json", "call_b"),
      call("pay", GOOD, "call_c"),
    ];
    const answers = await runToolCalls(completion(calls, "length"), tools, { scope: "s" });
    expect(answers.map(({ tool_call_id }) => tool_call_id)).toEqual(["call_a", "call_b", "call_c"]);
    for (const { content } of answers) {
      expect(JSON.parse(content)).toMatchObject({ ok: false, outcome: "not_applied" });
      expect(content).toContain("Nothing was sent.");
    }
    expect(paid).toHaveLength(0);
  });

  it("arguments that a schema refuses are the model's mistake, too", async () => {
    const hf = openHoldfire();
    const run = () => "paid";
    const input = z.object({ paymentId: z.string() });
    const pay = hf.tool({ name: "pay", kind: "write", input, run });
    const calls = [call("pay", '{"paymentId":7}')];
    const [told] = await runToolCalls(completion(calls), [pay], { scope: "s" });
    expect(JSON.parse(told?.content ?? "")).toMatchObject({ outcome: "not_applied" });
    const zod = zodFunction({ name: "zod", parameters: input, function: run });
    const guarded = guardTools([zod], hf, { zod: "write" });
    const wrong = [call("zod", '{"paymentId":7}')];
    const [said] = await runToolCalls(completion(wrong), guarded, { scope: "s" });
    expect(JSON.parse(said?.content ?? "")).toMatchObject({ outcome: "not_applied" });
    expect((await hf.operations.list()).items).toHaveLength(0);
  });

  it("what is no response is refused", async () => {
    const { tools } = counted();
    await expect(runToolCalls({} as never, tools, { scope: "s" })).rejects.toThrow(/response:/);
  });
});
