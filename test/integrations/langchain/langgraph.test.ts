import type { RunnableConfig } from "@langchain/core/runnables";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { AIMessage, HumanMessage, ToolMessage, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  attemptOf,
  guardTool,
  type LangChainTool,
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
  toolTexts,
} from "../shared/scripted.ts";

const THREAD = { configurable: { thread_id: "conversation-7" } };
const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } };
const FAST = { initialInterval: 1, jitter: false, logWarning: false, maxAttempts: 3 };

function agentGraph(
  server: ModelServer,
  tools: LangChainTool[],
  node = new ToolNode(tools as never),
) {
  const model = new ChatOpenAI({
    model: "m",
    apiKey: "x",
    maxRetries: 0,
    configuration: { baseURL: server.openai },
  }).bindTools(tools as never);
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", node)
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition, ["tools", END])
    .addEdge("tools", "agent");
}

adapterContract("langgraph: ToolNode", {
  async drive({ hf, definition, call }: AdapterSetup) {
    const { toolCallId: id, args, scope, signal } = call;
    const server = await saying({ tool: "pay", args, id });
    try {
      const pay = tool(async (input) => definition.run(input as PayArguments, attemptOf()), {
        name: "pay",
        schema: PAY_SCHEMA,
      });
      const graph = agentGraph(server, [guardTool(pay, hf, rulesOf(definition))]).compile();
      const messages = [new HumanMessage(scope)];
      await graph.invoke({ messages }, { ...THREAD, ...(signal ? { signal } : {}) });
      return { text: toolTexts(server)[0] ?? "" };
    } finally {
      await server.close();
    }
  },
});

const schema = z.object({ paymentId: z.string(), amount: z.number() });

function counted(name = "pay") {
  const hf = openHoldfire();
  const paid: string[] = [];
  const pay = tool(
    async (_: z.infer<typeof schema>) => {
      paid.push(attemptOf().key);
      return { id: `po_${paid.length}` };
    },
    { name, description: "Pays.", schema },
  );
  return { hf, paid, pay: guardTool(pay, hf, "write") };
}

const State = Annotation.Root({ payment: Annotation<string>(), done: Annotation<string>() });

/** A graph without messages, whose node pays and then does something else. */
function payingGraph(
  pay: LangChainTool,
  after: () => unknown,
  options: { readonly retryPolicy?: typeof FAST; readonly timeout?: number } = {},
) {
  return new StateGraph(State)
    .addNode(
      "pay",
      async ({ payment }: typeof State.State, config: RunnableConfig) => {
        const paid = await pay.invoke({ paymentId: payment, amount: 400 }, config);
        await after();
        return { done: String(JSON.parse(paid).data.id) };
      },
      options,
    )
    .addEdge(START, "pay")
    .addEdge("pay", END)
    .compile({ checkpointer: new MemorySaver() });
}

describe("a state without messages: the task is the scope", () => {
  it("retryPolicy runs the node three times: one effect", async () => {
    const { pay, paid } = counted();
    let runs = 0;
    const graph = payingGraph(
      pay,
      () => {
        runs += 1;
        if (runs < 3) throw new Error("later");
      },
      { retryPolicy: FAST },
    );
    expect(await graph.invoke({ payment: "p1" }, THREAD)).toMatchObject({ done: "po_1" });
    expect({ runs, paid: paid.length }).toEqual({ runs: 3, paid: 1 });
  });

  it("a crash behind the effect, then resumed: one effect", async () => {
    const { pay, paid } = counted();
    let runs = 0;
    const graph = payingGraph(pay, () => {
      runs += 1;
      if (runs === 1) throw new Error("crash");
    });
    await expect(graph.invoke({ payment: "p1" }, THREAD)).rejects.toThrow("crash");
    expect(await graph.invoke(null, THREAD)).toMatchObject({ done: "po_1" });
    expect({ runs, paid: paid.length }).toEqual({ runs: 2, paid: 1 });
  });

  it("an effect before interrupt, resumed twice from one checkpoint: one effect", async () => {
    const { pay, paid } = counted();
    let runs = 0;
    const graph = payingGraph(pay, () => {
      runs += 1;
      interrupt("Go on?");
    });
    await graph.invoke({ payment: "p1" }, THREAD);
    const { config } = await graph.getState(THREAD);
    for (const _ of [1, 2]) {
      const resumed = await graph.invoke(new Command({ resume: "yes" }), config);
      expect(resumed).toMatchObject({ done: "po_1" });
    }
    expect({ runs, paid: paid.length }).toEqual({ runs: 3, paid: 1 });
  });

  it("another run of the thread is another task: two effects", async () => {
    const { pay, paid } = counted();
    const graph = payingGraph(pay, () => {});
    await graph.invoke({ payment: "p1" }, THREAD);
    await graph.invoke({ payment: "p1" }, THREAD);
    expect(new Set(paid).size).toBe(2);
  });

  it("another run of the thread joins what is unknown: one effect", async () => {
    const hf = openHoldfire();
    let paid = 0;
    const lost = async (_: z.infer<typeof schema>) => {
      paid += 1;
      throw new TypeError("fetch failed");
    };
    const pay = guardTool(tool(lost, { name: "pay", description: "Pays.", schema }), hf, "write");
    const told: string[] = [];
    const graph = new StateGraph(State)
      .addNode("pay", async (_, config) => {
        told.push(JSON.parse(await pay.invoke({ paymentId: "p1", amount: 400 }, config)).outcome);
        return {};
      })
      .addEdge(START, "pay")
      .compile();
    for (const _ of [1, 2]) await graph.invoke({ payment: "p1" }, THREAD);
    expect(told).toEqual(["unknown", "unknown"]);
    expect(paid).toBe(1);
  });

  it("hf.scope around the run wins over the task: started again, it has one effect", async () => {
    const { hf, pay, paid } = counted();
    const graph = payingGraph(pay, () => {});
    for (const _ of [1, 2]) {
      await hf.scope("job-1", () => graph.invoke({ payment: "p1" }, THREAD));
    }
    expect(paid).toHaveLength(1);
  });

  it("without a thread there is nothing stable, and nothing is paid", async () => {
    const { pay, paid } = counted();
    const graph = new StateGraph(State)
      .addNode("pay", async (_, config) => {
        await pay.invoke({ paymentId: "p1", amount: 400 }, config);
        return {};
      })
      .addEdge(START, "pay")
      .compile();
    await expect(graph.invoke({ payment: "p1" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_MISSING_SCOPE",
    });
    expect(paid).toHaveLength(0);
  });

  it("what holdfire throws is final to retryPolicy", async () => {
    const { pay } = counted();
    let runs = 0;
    const graph = new StateGraph(State)
      .addNode(
        "pay",
        async (_, config) => {
          runs += 1;
          await pay.invoke({ paymentId: "p1", amount: 400 }, config);
          return {};
        },
        { retryPolicy: FAST },
      )
      .addEdge(START, "pay")
      .compile();
    await expect(graph.invoke({ payment: "p1" })).rejects.toThrow();
    expect(runs).toBe(1);
  });
});

describe("a state with messages: the turn is the scope", () => {
  it("parallel calls, one of which throws, resumed: the other one is not made again", async () => {
    const { hf, pay, paid } = counted();
    let falls = true;
    const settled = new Promise<void>((resolve) => void hf.on("outcome", () => resolve()));
    const fall = tool(
      async () => {
        if (!falls) return "stands";
        await settled;
        throw new Error("falls");
      },
      { name: "fall", description: "Falls.", schema: z.object({}) },
    );
    const server = await modelSaying({ calls: [PAY, { tool: "fall", args: {} }] });
    const node = new ToolNode([pay, fall] as never, { handleToolErrors: false });
    const graph = agentGraph(server, [pay, fall], node).compile({
      checkpointer: new MemorySaver(),
    });
    const messages = [new HumanMessage("Pay p1")];
    await expect(graph.invoke({ messages }, THREAD)).rejects.toThrow("falls");
    falls = false;
    await graph.invoke(null, THREAD);
    expect(paid).toHaveLength(1);
    expect(JSON.parse(toolTexts(server)[0] ?? "")).toMatchObject({ ok: true, replayed: true });
    expect((await hf.operations.list()).items).toHaveLength(1);
  });

  it("a tool that returns a Command changes the state once; its replay is the envelope", async () => {
    const hf = openHoldfire();
    let paid = 0;
    const pay = tool(
      async (_, config) => {
        paid += 1;
        const said = new ToolMessage({ content: "paid", tool_call_id: config.toolCall?.id ?? "" });
        return new Command({ update: { messages: [said] } });
      },
      { name: "pay", description: "Pays.", schema },
    );
    const server = await modelSaying(PAY, PAY);
    const graph = agentGraph(server, [guardTool(pay, hf, "write")]).compile();
    await graph.invoke({ messages: [new HumanMessage("Pay p1")] }, THREAD);
    const [first, second] = toolTexts(server);
    expect({ paid, first }).toEqual({ paid: 1, first: "paid" });
    expect(JSON.parse(second ?? "")).toMatchObject({ ok: true, replayed: true });
  });

  it("a conversation kept by the checkpointer: each request of a person is one effect", async () => {
    const { pay, paid } = counted();
    const server = await modelSaying(PAY, { text: "Done." }, PAY);
    const graph = agentGraph(server, [pay]).compile({ checkpointer: new MemorySaver() });
    await graph.invoke({ messages: [new HumanMessage("Pay p1")] }, THREAD);
    await graph.invoke({ messages: [new HumanMessage("Pay p1")] }, THREAD);
    expect(new Set(paid).size).toBe(2);
    expect(envelopes(server).map(({ replayed }) => replayed)).toEqual([false, false]);
  });

  it("a request sent again under its message id is the same request, also to a checkpointer", async () => {
    const { pay, paid } = counted();
    const server = await modelSaying(PAY, { text: "Done." }, PAY);
    const graph = agentGraph(server, [pay]).compile({ checkpointer: new MemorySaver() });
    for (const _ of [1, 2]) {
      await graph.invoke({ messages: [new HumanMessage({ id: "m1", content: "Pay p1" })] }, THREAD);
    }
    expect(paid).toHaveLength(1);
  });

  it("a list of messages as the state is read as well", async () => {
    const { pay, paid } = counted();
    const node = new ToolNode([pay] as never);
    const call = {
      name: "pay",
      args: { paymentId: "p1", amount: 400 },
      type: "tool_call",
    } as const;
    for (const id of ["c1", "c2"]) {
      const asked = new AIMessage({ content: "", tool_calls: [{ ...call, id }] });
      await node.invoke([new HumanMessage("Pay p1"), asked], THREAD);
    }
    expect(paid).toHaveLength(1);
  });
});
