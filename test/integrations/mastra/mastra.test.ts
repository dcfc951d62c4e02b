import { createOpenAI } from "@ai-sdk/openai";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  attemptOf,
  guardHooks,
  guardStep,
  guardTools,
  statusTool,
} from "../../../src/integrations/mastra/index.ts";
import {
  type AdapterSetup,
  adapterContract,
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
const memory = { thread: "conversation-7", resource: "ana" };
/** A hook is told the thread only where the agent has a memory of its own. */
const THREAD = { thread: "conversation-7" };

const inputSchema = z.object({
  paymentId: z.string(),
  amount: z.number(),
  note: z.string().optional(),
});

type Ways = Pick<ConstructorParameters<typeof Agent>[0], "tools" | "hooks" | "memory">;

const agentOf = ({ openai: baseURL }: ModelServer, ways: Ways) =>
  new Agent({
    id: "clerk",
    name: "clerk",
    instructions: "x",
    model: createOpenAI({ apiKey: "x", baseURL }).chat("m") as never,
    ...ways,
  });

const driven = (ways: (setup: AdapterSetup) => Ways) => async (setup: AdapterSetup) => {
  const { toolCallId: id, args, scope, signal } = setup.call;
  const server = await saying({ tool: "pay", args, id });
  try {
    const stop = signal ? { abortSignal: signal } : {};
    await agentOf(server, ways(setup)).generate(scope, { memory, ...stop });
    return { text: toolTexts(server)[0] ?? "" };
  } finally {
    await server.close();
  }
};

const contractTool = ({ definition }: Pick<AdapterSetup, "definition">) =>
  createTool({
    id: "pay",
    description: "Pays.",
    inputSchema,
    execute: async (input) => definition.run(input as PayArguments, attemptOf()),
  });

adapterContract("mastra: guardTools", {
  drive: driven((setup) => ({
    tools: guardTools({ pay: contractTool(setup) }, setup.hf, { pay: rulesOf(setup.definition) }),
  })),
  hand({ hf, definition }) {
    const tools = { pay: contractTool({ definition }) };
    const { pay } = guardTools(tools, hf, { pay: rulesOf(definition) }, THREAD);
    return async ({ args, messages, toolCallId }) =>
      pay.execute?.(args, { agent: { toolCallId, messages } } as never);
  },
});

adapterContract("mastra: guardHooks", {
  drive: driven((setup) => {
    const tools = { pay: contractTool(setup) };
    const own = { pay: rulesOf(setup.definition) };
    return { tools, hooks: guardHooks(tools, setup.hf, own, THREAD) };
  }),
  hand({ hf, definition }) {
    const tools = { pay: contractTool({ definition }) };
    const { beforeToolCall } = guardHooks(tools, hf, { pay: rulesOf(definition) }, THREAD);
    return ({ args: input, messages, toolCallId }) =>
      beforeToolCall({ toolName: "pay", input, context: { messages, toolCallId } });
  },
});

const rules = {
  kind: "write",
  intent: ({ paymentId, amount }: PayArguments) => ({ paymentId, amount }),
  alsoDoes: ["e-mails the payee"],
} as const;

function counted({ lost = 0, more = {} as object } = {}) {
  const hf = openHoldfire();
  const paid: { readonly key: string }[] = [];
  const pay = createTool({
    id: "pay",
    description: "Pays.",
    inputSchema,
    execute: async () => {
      paid.push({ key: attemptOf().key });
      if (paid.length <= lost) throw new TypeError("fetch failed");
      return { id: `po_${paid.length}` };
    },
    ...more,
  });
  return { hf, paid, pay };
}

const ways = [
  [
    "guardTools",
    ({ hf, pay }: ReturnType<typeof counted>): Ways => ({
      tools: guardTools({ pay }, hf, { pay: rules }),
    }),
  ],
  [
    "guardHooks",
    ({ hf, pay }: ReturnType<typeof counted>): Ways => ({
      tools: { pay },
      hooks: guardHooks({ pay }, hf, { pay: rules }, THREAD),
    }),
  ],
] as const;

describe.each(ways)("one request of a person, by %s", (name, way) => {
  it("a run started again as a whole has one effect", async () => {
    const bench = counted();
    for (const _ of [1, 2]) {
      await agentOf(await modelSaying(PAY), way(bench)).generate("Pay p1", { memory });
    }
    expect(bench.paid).toHaveLength(1);
  });

  it("the model repeats the call with a new id and reordered arguments: one effect", async () => {
    const bench = counted();
    const server = await modelSaying(PAY, AGAIN);
    await agentOf(server, way(bench)).generate("Pay p1", { memory });
    expect(bench.paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([
      { ok: true, replayed: false, data: { id: "po_1" } },
      { ok: true, replayed: true, effect: "noop", data: { id: "po_1" } },
    ]);
  });

  it("two identical calls at once: one effect, and both are answered", async () => {
    const bench = counted();
    const server = await modelSaying({ calls: [PAY, PAY] });
    await agentOf(server, way(bench)).generate("Pay p1", { memory });
    expect(bench.paid).toHaveLength(1);
    expect(envelopes(server).map(({ ok }) => ok)).toEqual([true, true]);
  });

  it("a lost reply is not made up for", async () => {
    const bench = counted({ lost: 1 });
    const server = await modelSaying(PAY, AGAIN);
    await agentOf(server, way(bench)).generate("Pay p1", { memory });
    expect(bench.paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ outcome: "unknown" }, { outcome: "unknown" }]);
  });

  it("an approval sent twice: one effect", async () => {
    const bench = counted({ more: { requireApproval: true } });
    const server = await modelSaying(PAY);
    const mastra = new Mastra({
      logger: false,
      storage: new InMemoryStore(),
      agents: { clerk: agentOf(server, way(bench)) },
    });
    const agent = mastra.getAgent("clerk");
    const asked = await agent.generate("Pay p1", { memory });
    expect({ reason: asked.finishReason, paid: bench.paid.length }).toEqual({
      reason: "suspended",
      paid: 0,
    });
    const yes = { runId: asked.runId ?? "", toolCallId: "call_1" };
    // Nor is it told the run that an approval is for.
    const approve = () =>
      name === "guardHooks"
        ? bench.hf.scope("request-1", () => agent.approveToolCallGenerate(yes))
        : agent.approveToolCallGenerate(yes);
    const sent = await Promise.allSettled([approve(), approve()]);
    expect(sent.map(({ status }) => status)).toContain("fulfilled");
    expect(bench.paid).toHaveLength(1);
  });

  it("asked again by a person, it happens again", async () => {
    const bench = counted();
    const go = async (words: string[]) =>
      agentOf(await modelSaying(PAY), way(bench)).generate(
        words.map((content) => ({ role: "user" as const, content })),
        { memory },
      );
    await go(["Pay p1"]);
    for (const _ of [1, 2]) await go(["Pay p1", "Pay p1"]);
    expect(new Set(bench.paid.map(({ key }) => key)).size).toBe(2);
  });

  it("arguments that do not fit reach nobody and leave nothing behind", async () => {
    const bench = counted();
    const server = await modelSaying({ tool: "pay", args: { paymentId: 7 } });
    await agentOf(server, way(bench)).generate("Pay p1", { memory });
    expect(bench.paid).toHaveLength(0);
    const committed = (await bench.hf.operations.list()).items.filter(
      ({ status }) => status !== "not_applied",
    );
    expect(committed).toEqual([]);
  });

  it("in the background, with retries that the model asks for: one effect", async () => {
    const bench = counted({ lost: 9, more: { background: { enabled: true } } });
    const _background = { disposition: "awaited", maxRetries: 3 };
    const server = await modelSaying({ tool: "pay", args: { ...PAY.args, _background } });
    const mastra = new Mastra({
      logger: false,
      storage: new InMemoryStore(),
      backgroundTasks: { enabled: true, defaultRetries: { retryDelayMs: 1 } },
      agents: { clerk: agentOf(server, way(bench)) },
    });
    await mastra.getAgent("clerk").generate("Pay p1", { memory });
    expect(bench.paid).toHaveLength(1);
    await mastra.shutdown();
  });
});

it("the thread comes from the agent's memory, for hooks too", async () => {
  const { hf, pay, paid } = counted();
  for (const thread of ["a", "b", "a"]) {
    for (const given of [
      { tools: guardTools({ pay }, hf, { pay: "write" }) },
      {
        tools: { pay },
        hooks: guardHooks({ pay }, hf, { pay: "write" }),
        memory: new MockMemory() as never,
      },
    ]) {
      const agent = agentOf(await modelSaying(PAY), given);
      await agent.generate("Pay p1", { memory: { thread, resource: "ana" } });
    }
  }
  expect(paid).toHaveLength(2);
});

it("a tool is not told what a memory remembers: the same words are one request, unless the scope says more", async () => {
  const { hf, pay, paid } = counted();
  const remembering = { memory: new MockMemory() as never };
  const done = { text: "Done." };
  const byWords = { tools: guardTools({ pay }, hf, { pay: "write" }), ...remembering };
  const agent = agentOf(await modelSaying(PAY, done, PAY, done), byWords);
  for (const _ of [1, 2]) await agent.generate("Pay p1", { memory });
  expect(paid).toHaveLength(1);
  const scope = ({ requestContext }: { requestContext: RequestContext }) =>
    requestContext.get("turn") as string;
  const byTurn = { tools: guardTools({ pay }, hf, { pay: "write" }, { scope }), ...remembering };
  const other = agentOf(await modelSaying(PAY, done, PAY, done, PAY, done), byTurn);
  for (const turn of ["a/1", "a/2", "a/2"]) {
    const requestContext = new RequestContext([["turn", turn]]);
    await other.generate("Pay p1", { memory, requestContext });
  }
  expect(paid).toHaveLength(3);
});

describe("a run that goes on after an approval", () => {
  const notify = createTool({
    id: "notify",
    description: "Notifies.",
    inputSchema,
    requireApproval: true,
    execute: async () => "sent",
  });

  function clerkOf(server: ModelServer, { hf, pay }: ReturnType<typeof counted>) {
    const tools = guardTools({ pay, notify }, hf, { pay: rules, notify: "write" });
    const agents = { clerk: agentOf(server, { tools }) };
    return new Mastra({ logger: false, storage: new InMemoryStore(), agents }).getAgent("clerk");
  }

  it.each([
    ["committed", 0, AGAIN, ["committed", "committed", "committed"]],
    ["unknown", 1, AGAIN, ["unknown", "committed", "unknown"]],
    ["unknown, and reworded", 1, { tool: "pay", args: { paymentId: "p-1", amount: 400 } }],
  ] as const)("is the same turn: what was %s before it is not made again", async (...given) => {
    const [, lost, again, outcomes = ["unknown", "committed", "held"]] = given;
    const bench = counted({ lost });
    const ask = { tool: "notify", args: { paymentId: "p1", amount: 1 }, id: "call_2" };
    const server = await modelSaying(PAY, ask, again);
    const clerk = clerkOf(server, bench);
    const { runId = "" } = await clerk.generate("Pay p1", { memory });
    await clerk.approveToolCallGenerate({ runId, toolCallId: "call_2" });
    expect(envelopes(server).map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(bench.paid).toHaveLength(1);
  });

  it("is a turn of its thread, where this process does not know how it began", async () => {
    const bench = counted({ lost: 1 });
    await agentOf(await modelSaying(PAY), ways[0][1](bench)).generate("Pay p1", { memory });
    const asking = { ...bench, pay: createTool({ ...bench.pay, requireApproval: true } as never) };
    const server = await modelSaying(PAY);
    const clerk = clerkOf(server, asking as never);
    const { runId = "" } = await clerk.generate("Try again", { memory });
    await clerk.approveToolCallGenerate({ runId, toolCallId: "call_1" });
    expect(envelopes(server).map(({ outcome }) => outcome)).toEqual(["unknown"]);
    expect(bench.paid).toHaveLength(1);
  });
});

it("a sub-agent has another thread with every delegation; a scope that it inherits makes it one request", async () => {
  const bench = counted({ lost: 1 });
  const delegate = (id: string, prompt: string) => ({ tool: "agent-payer", args: { prompt }, id });
  const server = await modelSaying(
    ...[delegate("call_1", "Pay p1"), { ...PAY, id: "call_2" }, { text: "It is unknown." }],
    ...[delegate("call_3", "Try again"), { ...PAY, id: "call_4" }],
  );
  const scope = (context: unknown) =>
    (context as { requestContext: RequestContext }).requestContext.get("turn") as string;
  const tools = guardTools({ pay: bench.pay }, bench.hf, { pay: rules }, { scope });
  const payer = agentOf(server, { tools });
  const clerk = new Agent({
    id: "supervisor",
    name: "supervisor",
    instructions: "x",
    model: createOpenAI({ apiKey: "x", baseURL: server.openai }).chat("m") as never,
    agents: { payer },
  });
  const requestContext = new RequestContext();
  requestContext.set("turn", "conversation-7/turn-1");
  await clerk.generate("Pay p1", { memory, requestContext: requestContext as never, maxSteps: 6 });
  expect(server.arrivals.length).toBeGreaterThanOrEqual(5);
  expect(bench.paid).toHaveLength(1);
});

describe("workflow steps", () => {
  const outputSchema = z.object({ id: z.string() });
  const start = async (step: unknown, retryConfig = { attempts: 0, delay: 1 }) => {
    const payments = createWorkflow({ id: "payments", inputSchema, outputSchema, retryConfig })
      .then(step as never)
      .commit();
    const mastra = new Mastra({ logger: false, workflows: { payments } });
    const run = await mastra.getWorkflow("payments").createRun();
    return run.start({ inputData: { paymentId: "p1", amount: 400 } });
  };

  function paying(after: (runs: number) => void = () => {}) {
    const hf = openHoldfire();
    const paid: string[] = [];
    const pay = hf.tool({
      name: "bank_pay",
      kind: "write",
      run: async (_: object, { key }) => {
        paid.push(key);
        return { id: `po_${paid.length}` };
      },
    });
    let runs = 0;
    const step = {
      id: "pay",
      inputSchema,
      outputSchema,
      retries: 2,
      execute: async ({ inputData }: { inputData: PayArguments }) => {
        runs += 1;
        const done = await pay({ paymentId: inputData.paymentId });
        after(runs);
        return done;
      },
    };
    return { hf, paid, step };
  }

  it("a step gives its data, and each run is one", async () => {
    const { hf, paid, step } = paying();
    const guarded = createStep(guardStep(step, hf, "write") as never);
    expect(await start(guarded)).toMatchObject({ status: "success", result: { id: "po_1" } });
    expect(await start(guarded)).toMatchObject({ status: "success", result: { id: "po_2" } });
    expect(new Set(paid).size).toBe(2);
  });

  it("hf.scope around a workflow wins over run and step: run again, it has one effect", async () => {
    const { hf, paid, step } = paying();
    const guarded = createStep(guardStep(step, hf, "write") as never);
    for (const _ of [1, 2]) {
      const { status } = await hf.scope("job-1", () => start(guarded));
      expect(status).toBe("success");
    }
    expect(paid).toHaveLength(1);
  });

  it("a step that throws behind its effect is not run again by its retries", async () => {
    const { hf, paid, step } = paying(() => {
      throw new Error("crash");
    });
    const failed = await start(createStep(guardStep(step, hf, "write") as never));
    expect(failed.status).toBe("failed");
    expect(paid).toHaveLength(1);
    const { items } = await hf.operations.list();
    expect(items.map(({ tool, status }) => `${tool} ${status}`).sort()).toEqual([
      "bank_pay committed",
      "pay unknown",
    ]);
  });

  it("a tool as a step, retried by the workflow: one effect", async () => {
    const { hf, paid, pay } = counted({ lost: 9, more: { outputSchema } });
    const step = createStep(guardStep(pay, hf, rules) as never);
    expect(await start(step, { attempts: 2, delay: 1 })).toMatchObject({ status: "failed" });
    expect(paid).toHaveLength(1);
  });

  it("a tool as a step gives its data", async () => {
    const { hf, paid, pay } = counted({ more: { outputSchema } });
    const step = createStep(guardStep(pay, hf, rules) as never);
    expect(await start(step)).toMatchObject({ status: "success", result: { id: "po_1" } });
    expect(paid).toHaveLength(1);
  });

  it("outside a workflow a guarded step has no scope", async () => {
    const { hf, paid, step } = paying();
    const guarded = guardStep(step, hf, "write");
    await expect(
      guarded.execute({ inputData: { paymentId: "p1", amount: 1 } }),
    ).rejects.toMatchObject({ code: "ERR_HOLDFIRE_MISSING_SCOPE" });
    expect(paid).toHaveLength(0);
  });
});

it("called by hand, a tool whose input does not fit was never entered: not applied", async () => {
  const { hf, pay, paid } = counted();
  const guarded = guardTools({ pay }, hf, { pay: rules }, { scope: "job-1" });
  const told = await guarded.pay.execute?.({ paymentId: "p1", amount: "x" } as never, {} as never);
  expect(told).toMatchObject({ ok: false, outcome: "not_applied" });
  expect(paid).toHaveLength(0);
});

it("what a tool returns is its result, also where its own output schema refuses it", async () => {
  const outputSchema = z.object({ amount: z.number() });
  const { hf, pay, paid } = counted({ more: { outputSchema } });
  const guarded = guardTools({ pay }, hf, { pay: rules }, { scope: "job-1" });
  const told = await guarded.pay.execute?.({ paymentId: "p1", amount: 1 } as never, {} as never);
  expect(told).toMatchObject({ ok: true, outcome: "committed" });
  expect(paid).toHaveLength(1);
});

it("a guarded tool that suspends is not taken for done", async () => {
  const { hf, pay } = counted({
    more: {
      execute: async (_: unknown, { agent }: { agent: { suspend: (why: object) => unknown } }) =>
        agent.suspend({ why: "ask" }),
    },
  });
  const server = await modelSaying(PAY);
  await agentOf(server, { tools: guardTools({ pay }, hf, { pay: "write" }) }).generate("Pay", {
    memory,
  });
  expect(envelopes(server)).toMatchObject([{ ok: false, outcome: "unknown" }]);
});

describe("what the model sees", () => {
  it("idempotency_key is hidden and filled, and alsoDoes is told", async () => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const send = createTool({
      id: "send",
      description: "Sends.",
      inputSchema: z.object({ to: z.string(), idempotency_key: z.string().min(30) }),
      execute: async (input) => {
        got.push(input);
        return "sent";
      },
    });
    const own = { kind: "write" as const, keyed: { forMs: 60_000 }, alsoDoes: ["rings a bell"] };
    const server = await modelSaying({ tool: "send", args: { to: "ana" } });
    await agentOf(server, { tools: guardTools({ send }, hf, { send: own }) }).generate("Send", {
      memory,
    });
    const { schema, description } = shownTool(server);
    expect(Object.keys(schema.properties)).toEqual(["to"]);
    expect(description).toBe("Sends.\nIt also rings a bell.");
    const { items } = await hf.operations.list();
    expect(got).toEqual([{ to: "ana", idempotency_key: items[0]?.key }]);
  });

  it("looks up what became of a call", async () => {
    const { hf, pay } = counted({ lost: 1 });
    const server = await modelSaying(PAY);
    await agentOf(server, { tools: guardTools({ pay }, hf, { pay: "write" }) }).generate("Pay", {
      memory,
    });
    const operation = envelopes(server)[0]?.operation ?? "";
    const model = await modelSaying({ tool: "operation_status", args: { operation } });
    const operation_status = createTool(statusTool(hf));
    await agentOf(model, { tools: { operation_status } }).generate("And?", { memory });
    expect(envelopes(model)).toMatchObject([{ ok: false, outcome: "unknown" }]);
  });
});

it("without anything stable nothing is paid, and the line is named", async () => {
  const { hf, pay, paid } = counted();
  const server = await modelSaying(PAY);
  await agentOf(server, { tools: guardTools({ pay }, hf, { pay: "write" }) }).generate("Pay p1");
  expect(paid).toHaveLength(0);
  expect(toolTexts(server)[0]).toContain("memory: { thread, resource }");
});

it("names that the model is not shown, and rules that name no tool, are refused", () => {
  const { hf, pay } = counted();
  expect(() => guardHooks({ "pay now": pay }, hf, { "*": "write" })).toThrow(/another name/);
  expect(() => guardTools({ pay }, hf, { pay: "write", pya: "write" } as { pay: "write" })).toThrow(
    /rules\.pya/,
  );
});
