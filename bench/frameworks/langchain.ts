/**
 * Rows: an agent of LangChain, and a graph of LangGraph with a ToolNode.
 *
 * @module
 */

import {
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
import {
  type AgentMiddleware,
  createAgent,
  HumanMessage,
  humanInTheLoopMiddleware,
  tool,
  toolRetryMiddleware,
} from "langchain";
import { guardMiddleware, guardTool } from "../../src/integrations/langchain/index.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import type { Framework } from "./columns.ts";
import { runProgram, THREAD } from "./program.ts";
import { PAY, PAY_SCHEMA, type Payment, RULES, type Stage, WORDS } from "./stage.ts";

const CONFIG = { configurable: { thread_id: THREAD } };

const payTool = ({ pay }: Stage) =>
  tool(async (input, { signal }) => pay(input as Payment, signal), {
    name: "pay",
    description: "Pays.",
    schema: PAY_SCHEMA,
  });

const modelOf = ({ model }: Stage) =>
  new ChatOpenAI({
    model: "m",
    apiKey: "x",
    maxRetries: 0,
    configuration: { baseURL: model.openai },
  });

const human = () => ({ messages: [new HumanMessage(WORDS)] });

/** The checkpoints of a process that dies behind its first effect: nothing is written any more. */
function dyingSaver({ service }: Stage): { saver: MemorySaver; restart(): void } {
  const saver = new MemorySaver();
  const putWrites = saver.putWrites.bind(saver);
  const put = saver.put.bind(saver);
  let restarted = false;
  const isDead = () => service.effects.length > 0 && !restarted;
  saver.putWrites = async (...args) => (isDead() ? undefined : putWrites(...args));
  saver.put = async (...args) => (isDead() ? args[0] : put(...args));
  return {
    saver,
    restart() {
      restarted = true;
    },
  };
}

/** Sends the same yes twice to the same checkpoint. */
async function approveTwice(
  stage: Stage,
  graph: {
    invoke(input: unknown, config: object): Promise<unknown>;
    getState(config: object): Promise<{ readonly config: object }>;
  },
  yes: unknown,
): Promise<void> {
  stage.says(PAY);
  await graph.invoke(human(), CONFIG);
  const { config } = await graph.getState(CONFIG);
  for (const _ of [1, 2]) await graph.invoke(new Command({ resume: yes }), config);
}

const agentOf = (
  stage: Stage,
  middleware: readonly AgentMiddleware[] = [],
  checkpointer?: MemorySaver,
) =>
  createAgent({
    model: modelOf(stage),
    tools: [payTool(stage)],
    middleware: [...middleware, ...(stage.hf ? [guardMiddleware(stage.hf, { pay: RULES })] : [])],
    ...(checkpointer ? { checkpointer } : {}),
  });

export const langchain: Framework = {
  name: "LangChain agent",
  run: (stage, run) => runProgram("langchain", stage, run),
  ownRetry(stage) {
    stage.service.plan(faults.commitThenReset(), faults.commitThenReset());
    stage.says(PAY);
    const retries = toolRetryMiddleware({ initialDelayMs: 1, jitter: false }) as AgentMiddleware;
    return agentOf(stage, [retries]).invoke(human(), CONFIG);
  },
  async resume(stage) {
    stage.says(PAY);
    const { saver, restart } = dyingSaver(stage);
    await agentOf(stage, [], saver).invoke(human(), CONFIG);
    restart();
    await agentOf(stage, [], saver).invoke(null as never, CONFIG);
  },
  approval(stage) {
    const ask = humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never);
    const agent = agentOf(stage, [ask as AgentMiddleware], new MemorySaver());
    return approveTwice(stage, agent.graph as never, { decisions: [{ type: "approve" }] });
  },
};

function graphOf(
  stage: Stage,
  { asks = false, retries = false, checkpointer = undefined as MemorySaver | undefined } = {},
) {
  const plain = payTool(stage);
  const pay = stage.hf ? guardTool(plain, stage.hf, RULES) : plain;
  const model = modelOf(stage).bindTools([pay]);
  const tools = new ToolNode([pay], { handleToolErrors: !retries });
  const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false };
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode(
      "tools",
      async (state, config) => {
        const done = await tools.invoke(state, config);
        if (asks) interrupt("Is this right?");
        return done;
      },
      retries ? { retryPolicy } : {},
    )
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition, ["tools", END])
    .addEdge("tools", "agent")
    .compile(checkpointer ? { checkpointer } : {});
}

export const langgraph: Framework = {
  name: "LangGraph",
  run: (stage, run) => runProgram("langgraph", stage, run),
  ownRetry(stage) {
    stage.service.plan(faults.commitThenReset(), faults.commitThenReset());
    stage.says(PAY);
    return graphOf(stage, { retries: true }).invoke(human(), CONFIG);
  },
  async resume(stage) {
    stage.says(PAY);
    const { saver, restart } = dyingSaver(stage);
    await graphOf(stage, { checkpointer: saver }).invoke(human(), CONFIG);
    restart();
    await graphOf(stage, { checkpointer: saver }).invoke(null, CONFIG);
  },
  approval: (stage) =>
    approveTwice(
      stage,
      graphOf(stage, { asks: true, checkpointer: new MemorySaver() }) as never,
      "yes",
    ),
};
