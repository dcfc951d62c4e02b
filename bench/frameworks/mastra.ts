/**
 * Rows: an agent and a workflow of Mastra.
 *
 * @module
 */

import { createOpenAI } from "@ai-sdk/openai";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";
import { guardStep, guardTools } from "../../src/integrations/mastra/index.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import type { Framework } from "./columns.ts";
import { runProgram, THREAD } from "./program.ts";
import { PAY, type Payment, RULES, type Stage, WORDS } from "./stage.ts";

const inputSchema = z.object({
  payee: z.string(),
  cents: z.number(),
  note: z.string().optional(),
});
const memory = { thread: THREAD, resource: "ana" };

function agentOf(stage: Stage, more: object) {
  const tools = {
    pay: createTool({
      id: "pay",
      description: "Pays.",
      inputSchema,
      execute: async (input, { abortSignal }) => stage.pay(input as Payment, abortSignal),
      ...more,
    }),
  };
  const model = createOpenAI({ apiKey: "x", baseURL: stage.model.openai }).chat("m");
  return new Agent({
    id: "clerk",
    name: "clerk",
    instructions: "x",
    model: model as never,
    tools: stage.hf ? guardTools(tools, stage.hf, { pay: RULES }) : tools,
  });
}

const around = (agent: Agent) =>
  new Mastra({
    logger: false,
    storage: new InMemoryStore(),
    backgroundTasks: { enabled: true, defaultRetries: { retryDelayMs: 1 } },
    agents: { clerk: agent },
  });

export const mastra: Framework = {
  name: "Mastra agent",
  run: (stage, run) => runProgram("mastra", stage, run),
  async ownRetry(stage) {
    stage.service.plan(faults.commitThenReset(), faults.commitThenReset());
    const _background = { disposition: "awaited", maxRetries: 3 };
    stage.says({ tool: "pay", args: { ...PAY.args, _background } });
    const app = around(agentOf(stage, { background: { enabled: true } }));
    await app.getAgent("clerk").generate(WORDS, { memory });
    await app.shutdown();
  },
  resume: { none: "an agent's run goes on only where it was suspended: see approved twice" },
  async approval(stage) {
    stage.says(PAY);
    const app = around(agentOf(stage, { requireApproval: true }));
    const agent = app.getAgent("clerk");
    const { runId = "" } = await agent.generate(WORDS, { memory });
    const yes = { runId, toolCallId: "call_1" };
    // One after the other Mastra refuses the second itself.
    await Promise.all([agent.approveToolCallGenerate(yes), agent.approveToolCallGenerate(yes)]);
    await app.shutdown();
  },
};

const outputSchema = z.object({ id: z.string() });

function workflowOf(stage: Stage, after: () => void = () => {}) {
  const step = {
    id: "pay",
    inputSchema,
    outputSchema,
    retries: 2,
    execute: async ({
      inputData,
      abortSignal,
    }: {
      inputData: Payment;
      abortSignal: AbortSignal;
    }) => {
      const paid = await stage.pay(inputData, abortSignal);
      after();
      return paid;
    },
  };
  const guarded = stage.hf ? guardStep(step, stage.hf, RULES) : step;
  const payments = createWorkflow({ id: "payments", inputSchema, outputSchema })
    .then(createStep(guarded as never) as never)
    .commit();
  return new Mastra({ logger: false, workflows: { payments } }).getWorkflow("payments");
}

const NO_MODEL = { none: "a workflow has no model and no conversation" };

export const mastraWorkflow: Framework = {
  name: "Mastra workflow",
  run: NO_MODEL,
  async ownRetry(stage) {
    stage.service.plan(faults.commitThenReset(), faults.commitThenReset());
    const run = await workflowOf(stage).createRun();
    await run.start({ inputData: PAY.args });
  },
  async resume(stage) {
    let dies = true;
    const workflow = workflowOf(stage, () => {
      if (dies) throw new Error("The process died.");
    });
    const run = await workflow.createRun({ runId: "run-1" });
    await run.start({ inputData: PAY.args });
    dies = false;
    const again = await workflow.createRun({ runId: "run-1" });
    await again.start({ inputData: PAY.args });
  },
  approval: { none: "a guarded step does not suspend; the step before it does" },
};
