import { Command, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  HumanMessage,
  humanInTheLoopMiddleware,
  tool,
  toolRetryMiddleware,
} from "langchain";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import {
  attemptOf,
  guardMiddleware,
  guardTool,
  guardTools,
  statusTool,
} from "../../../src/integrations/langchain/index.ts";
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

const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } };
const AGAIN = { tool: "pay", args: '{"note":"please","amount":400.0,"paymentId":"p1"}' };
const THREAD = { configurable: { thread_id: "conversation-7" } };

const modelOf = ({ openai }: ModelServer) =>
  new ChatOpenAI({ model: "m", apiKey: "x", maxRetries: 0, configuration: { baseURL: openai } });
/** LangChain's own types do not fit each other under `exactOptionalPropertyTypes`. */
const loose = (one: unknown) => one as AgentMiddleware;

const contractTool = ({ definition }: Pick<AdapterSetup, "definition">) =>
  tool(async (input) => definition.run(input as PayArguments, attemptOf()), {
    name: "pay",
    description: "Pays.",
    schema: PAY_SCHEMA,
  });

type Ways = Pick<Parameters<typeof createAgent>[0], "tools" | "middleware">;

const driven = (ways: (setup: AdapterSetup) => Ways) => async (setup: AdapterSetup) => {
  const { toolCallId: id, args, scope, signal } = setup.call;
  const server = await saying({ tool: "pay", args, id });
  try {
    const agent = createAgent({ model: modelOf(server), ...ways(setup) });
    const messages = [new HumanMessage(scope)];
    await agent.invoke({ messages }, { ...THREAD, ...(signal ? { signal } : {}) });
    return { text: toolTexts(server)[0] ?? "" };
  } finally {
    await server.close();
  }
};

adapterContract("langchain: guardTool", {
  drive: driven((setup) => ({
    tools: [guardTool(contractTool(setup), setup.hf, rulesOf(setup.definition))],
  })),
  hand({ hf, definition }) {
    const pay = guardTool(contractTool({ definition }), hf, rulesOf(definition));
    return ({ args, messages, toolCallId }) =>
      pay.invoke(args, { ...THREAD, state: { messages }, toolCallId } as object);
  },
});

adapterContract("langchain: guardMiddleware", {
  drive: driven((setup) => ({
    tools: [contractTool(setup)],
    middleware: [guardMiddleware(setup.hf, { pay: rulesOf(setup.definition) })],
  })),
});

const schema = z.object({
  paymentId: z.string(),
  amount: z.number(),
  note: z.string().optional(),
});
const rules = {
  kind: "write",
  intent: ({ paymentId, amount }: PayArguments) => ({ paymentId, amount }),
  alsoDoes: ["e-mails the payee"],
} as const;

/** A tool that counts, in the place of a service; its first replies may get lost. */
function counted({ lost = 0 } = {}) {
  const hf = openHoldfire();
  const paid: { readonly key: string }[] = [];
  const pay = tool(
    async (_: PayArguments) => {
      paid.push({ key: attemptOf().key });
      if (paid.length <= lost) throw new TypeError("fetch failed");
      return { id: `po_${paid.length}` };
    },
    { name: "pay", description: "Pays.", schema },
  );
  const guard = guardMiddleware(hf, { pay: rules }, { tools: [pay] });
  return { hf, paid, pay, guard, guarded: guardTool(pay, hf, rules) };
}

const ways = [
  ["guardTool", ({ guarded }: ReturnType<typeof counted>): Ways => ({ tools: [guarded] })],
  [
    "guardMiddleware",
    ({ pay, guard }: ReturnType<typeof counted>): Ways => ({ tools: [pay], middleware: [guard] }),
  ],
] as const;

const ask = (server: ModelServer, given: Ways, words: string | string[], more: object = {}) =>
  createAgent({ model: modelOf(server), ...given }).invoke(
    { messages: [words].flat().map((one) => new HumanMessage(one)) },
    { ...THREAD, ...more },
  );

describe.each(ways)("one request of a person, by %s", (_, way) => {
  it("a run started again as a whole has one effect", async () => {
    const bench = counted();
    for (const _ of [1, 2]) await ask(await modelSaying(PAY), way(bench), "Pay p1");
    expect(bench.paid).toHaveLength(1);
  });

  it("the model repeats the call with a new id and reordered arguments: one effect", async () => {
    const bench = counted();
    const server = await modelSaying(PAY, AGAIN);
    await ask(server, way(bench), "Pay p1");
    expect(bench.paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([
      { ok: true, replayed: false, data: { id: "po_1" } },
      { ok: true, replayed: true, effect: "noop", data: { id: "po_1" } },
    ]);
  });

  it("two identical calls at once: one effect, and both are answered", async () => {
    const bench = counted();
    const server = await modelSaying({ calls: [PAY, PAY] });
    await ask(server, way(bench), "Pay p1");
    expect(bench.paid).toHaveLength(1);
    expect(
      envelopes(server)
        .map(({ replayed }) => replayed)
        .sort(),
    ).toEqual([false, true]);
  });

  it("a lost reply is not made up for by the model", async () => {
    const bench = counted({ lost: 1 });
    const server = await modelSaying(PAY, AGAIN);
    await ask(server, way(bench), "Pay p1");
    expect(bench.paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ outcome: "unknown" }, { outcome: "unknown" }]);
  });

  it("an approval sent twice: one effect", async () => {
    const bench = counted();
    const { middleware = [], tools } = way(bench);
    const server = await modelSaying(PAY);
    const approval = loose(humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never));
    const checkpointer = new MemorySaver();
    const agent = createAgent({
      model: modelOf(server),
      tools: tools ?? [],
      middleware: [approval, ...middleware],
      checkpointer,
    });
    await agent.invoke({ messages: [new HumanMessage("Pay p1")] }, THREAD);
    expect(bench.paid).toHaveLength(0);
    const { configurable } = await agent.graph.getState(THREAD).then(({ config }) => config);
    for (const _ of [1, 2]) {
      const yes = new Command({ resume: { decisions: [{ type: "approve" }] } });
      await agent.invoke(yes as never, { configurable } as never);
    }
    expect(bench.paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ replayed: true, data: { id: "po_1" } }]);
  });

  it("asked again in the same words, it happens again, and in another thread too", async () => {
    const bench = counted();
    await ask(await modelSaying(PAY), way(bench), "Pay p1");
    for (const _ of [1, 2]) await ask(await modelSaying(PAY), way(bench), ["Pay p1", "Pay p1"]);
    expect(bench.paid).toHaveLength(2);
    await ask(await modelSaying(PAY), way(bench), "Pay p1", { configurable: { thread_id: "b" } });
    expect(new Set(bench.paid.map(({ key }) => key)).size).toBe(3);
  });

  it("arguments that do not fit reach nobody and leave nothing behind", async () => {
    const bench = counted();
    const server = await modelSaying({ tool: "pay", args: { paymentId: 7 } });
    await ask(server, way(bench), "Pay p1");
    expect(bench.paid).toHaveLength(0);
    expect(toolTexts(server)[0]).toMatch(/schema/);
    expect((await bench.hf.operations.list()).items).toEqual([]);
  });

  it("a signal that fires under way is no cancellation: the reply is filed", async () => {
    const hf = openHoldfire();
    const stop = new AbortController();
    let paid = 0;
    let finish = () => {};
    const slow = tool(
      async () => {
        paid += 1;
        stop.abort();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { id: "po_1" };
      },
      { name: "pay", description: "Pays.", schema },
    );
    const bench = { ...counted(), hf, pay: slow, guarded: guardTool(slow, hf, rules) };
    const guard = guardMiddleware(hf, { pay: rules });
    const given = way({ ...bench, guard });
    await ask(await modelSaying(PAY), given, "Pay", { signal: stop.signal }).catch(() => {});
    expect(paid).toBe(1);
    const [open] = (await hf.operations.list()).items;
    expect(open?.status).not.toBe("not_applied");
    finish();
    const server = await modelSaying(PAY);
    await ask(server, given, "Pay");
    expect(paid).toBe(1);
    expect(envelopes(server)).toMatchObject([{ ok: true, data: { id: "po_1" } }]);
  });
});

/** Warnings of Node that carry our code, while the test runs. */
function warnings(): () => readonly string[] {
  const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => emit.mockRestore());
  return () =>
    emit.mock.calls
      .filter(([, options]) => Object(options).code === "HOLDFIRE_NOT_LAST")
      .map(([text]) => String(text));
}

describe("the middleware among others", () => {
  const retry = (more: object = {}) =>
    loose(toolRetryMiddleware({ initialDelayMs: 1, jitter: false, ...more }));

  it("last, behind LangChain's own retries: one effect, and nothing to say", async () => {
    const said = warnings();
    const { paid, pay, guard } = counted({ lost: 2 });
    const server = await modelSaying(PAY);
    await ask(server, { tools: [pay], middleware: [retry(), guard] }, "Pay p1");
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ outcome: "unknown" }]);
    expect(said()).toEqual([]);
  });

  it("before them: one effect as well", async () => {
    const { paid, pay, guard } = counted({ lost: 2 });
    await ask(await modelSaying(PAY), { tools: [pay], middleware: [guard, retry()] }, "Pay p1");
    expect(paid).toHaveLength(1);
  });

  const twice = () =>
    createMiddleware({
      name: "twice",
      wrapToolCall: async (request, handler) => {
        await handler(request);
        return handler(request);
      },
    });

  it("says so when a layer behind it calls again", async () => {
    const said = warnings();
    const { paid, pay, guard } = counted();
    await ask(await modelSaying(PAY), { tools: [pay], middleware: [guard, twice()] }, "Pay p1");
    expect(paid).toHaveLength(1);
    expect(said()).toEqual([expect.stringContaining("behind it called the tool again")]);
  });

  it("says so when a layer around it calls again", async () => {
    const said = warnings();
    const { paid, pay, guard } = counted();
    await ask(await modelSaying(PAY), { tools: [pay], middleware: [twice(), guard] }, "Pay p1");
    expect(paid).toHaveLength(1);
    expect(said()).toEqual([expect.stringContaining("around it")]);
  });

  it("says so when a layer behind it puts another tool in the place of the guarded one", async () => {
    const said = warnings();
    const { paid, pay, guard } = counted();
    const swap = createMiddleware({
      name: "swap",
      wrapToolCall: (request, handler) => handler({ ...request, tool: pay }),
    });
    await expect(
      ask(await modelSaying(PAY), { tools: [pay], middleware: [guard, swap] }, "Pay p1"),
    ).rejects.toThrow(/guarded tool/);
    expect(paid).toHaveLength(0);
    const free = tool(async () => "paid", { name: "pay", description: "Pays.", schema });
    const other = createMiddleware({
      name: "other",
      wrapToolCall: (request, handler) => handler({ ...request, tool: free }),
    });
    await ask(await modelSaying(PAY), { tools: [pay], middleware: [guard, other] }, "Pay p1");
    expect(said()).toEqual([expect.stringContaining("without the guarded tool")]);
  });

  it("a tool that the model made up is no reason to speak", async () => {
    const said = warnings();
    const { pay, guard } = counted();
    const server = await modelSaying({ tool: "fly", args: {} });
    await ask(server, { tools: [pay], middleware: [guard] }, "Fly");
    expect(toolTexts(server)[0]).toContain("not a valid tool");
    expect(said()).toEqual([]);
  });

  it("rules that name no tool are refused where the tools are given", () => {
    const { hf, pay } = counted();
    const wrong = { pay: rules, pya: { kind: "write" } } as const;
    expect(() => guardMiddleware(hf, wrong, { tools: [pay] })).toThrow(/rules\.pya/);
    expect(() => guardTools([pay], hf, wrong)).toThrow(/rules\.pya/);
  });
});

describe("what the model sees", () => {
  const keyed = z.object({ to: z.string(), idempotency_key: z.string().min(30) });
  const json = {
    type: "object",
    properties: { to: { type: "string" }, idempotency_key: { type: "string" } },
    required: ["to", "idempotency_key"],
  };

  it.each([
    ["zod", keyed],
    ["refined zod", keyed.refine(({ to }) => to !== "nobody")],
    ["JSON Schema", json],
  ])("idempotency_key is hidden and filled: %s", async (_, given) => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const send = tool(
      async (input) => {
        got.push(input);
        return "sent";
      },
      { name: "send", description: "Sends.", schema: given as typeof keyed },
    );
    const server = await modelSaying({ tool: "send", args: { to: "ana" } });
    const guarded = guardTool(send, hf, { kind: "write", keyed: { forMs: 60_000 } });
    await ask(server, { tools: [guarded] }, "Send");
    const { schema: shown } = shownTool(server);
    expect(Object.keys(shown.properties)).toEqual(["to"]);
    const { items } = await hf.operations.list();
    expect(got).toEqual([{ to: "ana", idempotency_key: items[0]?.key }]);
  });

  it("a refined schema still checks", async () => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const send = tool(async (input) => void got.push(input), {
      name: "send",
      description: "Sends.",
      schema: keyed.refine(({ to }) => to !== "nobody") as unknown as typeof keyed,
    });
    const server = await modelSaying({ tool: "send", args: { to: "nobody" } });
    await ask(server, { tools: [guardTool(send, hf, "write")] }, "Send");
    expect(got).toEqual([]);
  });

  it("reads what else the tool does", async () => {
    const { guarded } = counted();
    const server = await modelSaying(PAY);
    await ask(server, { tools: [guarded] }, "Pay p1");
    expect(shownTool(server).description).toBe("Pays.\nIt also e-mails the payee.");
  });

  it("an artifact stays beside the envelope, also in a replay", async () => {
    const hf = openHoldfire();
    const draw = tool(async () => ["a picture", { bytes: 3 }], {
      name: "draw",
      description: "Draws.",
      schema: z.object({}),
      responseFormat: "content_and_artifact",
    });
    const guarded = guardTool(draw, hf, "write", { scope: "job-1" });
    for (const replayed of [false, true]) {
      const message = await guarded.invoke({ type: "tool_call", id: "c1", name: "draw", args: {} });
      expect(JSON.parse(String(message.content))).toMatchObject({
        ok: true,
        replayed,
        data: "a picture",
      });
      expect(message.artifact).toEqual({ bytes: 3 });
    }
  });

  it("looks up what became of a call, and sees no other thread", async () => {
    const { hf, guarded } = counted({ lost: 1 });
    const server = await modelSaying(PAY);
    await ask(server, { tools: [guarded] }, "Pay p1");
    const [lost] = envelopes(server);
    const question = { tool: "operation_status", args: { operation: lost?.operation ?? "" } };
    for (const [thread_id, outcome] of [
      ["conversation-7", "unknown"],
      ["another", "not_found"],
    ] as const) {
      const model = await modelSaying(question);
      const status = tool(...(statusTool(hf) as unknown as Parameters<typeof tool>));
      await ask(model, { tools: [status] }, "And?", { configurable: { thread_id } });
      expect(envelopes(model)).toMatchObject([{ ok: false, outcome }]);
    }
  });
});

describe("where the scope comes from", () => {
  it("without anything stable it throws, names the line, and nothing is paid", async () => {
    const { guarded, paid } = counted();
    const args = { paymentId: "p1", amount: 400 };
    await expect(guarded.invoke(args)).rejects.toThrow(/configurable: \{ thread_id \}/);
    expect(paid).toHaveLength(0);
  });

  it("a thread may stand in the config, and an explicit scope wins", async () => {
    const { hf, pay, paid } = counted();
    const byChat = guardTool(pay, hf, rules, {
      thread: (config) => (config as { context?: { chat: string } }).context?.chat,
    });
    for (const chat of ["a", "b", "a"]) {
      const agent = createAgent({
        model: modelOf(await modelSaying(PAY)),
        tools: [byChat],
        contextSchema: z.object({ chat: z.string() }),
      });
      await agent.invoke({ messages: [new HumanMessage("Pay")] }, { context: { chat } });
    }
    expect(paid).toHaveLength(2);
    const job = guardTool(pay, hf, rules, { scope: "job-2" });
    await job.invoke({ paymentId: "p1", amount: 400 });
    await hf.scope("job-3", () => job.invoke({ paymentId: "p1", amount: 400 }));
    expect(paid).toHaveLength(3);
  });

  it("a read needs no scope", async () => {
    const hf = openHoldfire();
    const look = tool(async () => 7, { name: "look", description: "L.", schema: z.object({}) });
    const read = guardTool(look, hf, { kind: "read" });
    expect(JSON.parse(String(await read.invoke({})))).toMatchObject({ ok: true, data: 7 });
  });
});

it("a lost reply of a keyed tool is sent again by reconcile, also before the agent has called it", async () => {
  const { hf, paid, pay } = counted({ lost: 1 });
  const once = { ...rules, keyed: { forMs: 60_000 }, attempts: 1 } as const;
  await guardTool(pay, hf, once, { scope: "job-1" }).invoke({ paymentId: "p1", amount: 400 });
  guardMiddleware(hf, { pay: once }, { tools: [pay] });
  expect(await hf.reconcile({ resend: true })).toMatchObject({ committed: 1 });
  expect(new Set(paid.map(({ key }) => key)).size).toBe(1);
});

it("reconcile sends nothing by the tool of another customer: which one has made a call is not known", async () => {
  const hf = openHoldfire();
  const sent: string[] = [];
  const guard = guardMiddleware(hf, {
    pay: { ...rules, keyed: { forMs: 60_000 }, attempts: 1 },
  });
  const payFrom = (account: string) =>
    tool(
      async (_: PayArguments) => {
        sent.push(`${account} ${attemptOf().key}`);
        if (sent.length === 1) throw new TypeError("fetch failed");
        return { account };
      },
      { name: "pay", description: "Pays.", schema },
    );
  for (const account of ["acme", "beta"]) {
    const ways = { tools: [payFrom(account)], middleware: [guard] };
    const chat = { configurable: { thread_id: account } };
    await ask(await modelSaying(PAY), ways, "Pay p1", chat);
  }
  expect(await hf.reconcile({ resend: true })).toMatchObject({ committed: 0 });
  expect(sent.map((one) => one.split(" ")[0])).toEqual(["acme", "beta"]);
});
