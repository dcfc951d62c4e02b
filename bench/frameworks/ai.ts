/**
 * Row: the AI SDK.
 *
 * @module
 */

import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  type ToolApprovalResponse,
  tool,
} from "ai";
import { guardTools } from "../../src/integrations/ai/index.ts";
import type { Framework } from "./columns.ts";
import { runProgram, THREAD } from "./program.ts";
import { PAY, PAY_SCHEMA, type Payment, RULES, type Stage, WORDS } from "./stage.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

function toolsOf({ hf, pay }: Stage) {
  const tools = {
    pay: tool({
      inputSchema: jsonSchema<Payment>(PAY_SCHEMA as never),
      execute: (input, { abortSignal }) => pay(input, abortSignal),
    }),
  };
  return hf ? guardTools(tools, hf, { pay: RULES }, { thread: THREAD }) : tools;
}

const settings = (stage: Stage) => ({
  model: createOpenAI({ apiKey: "x", baseURL: stage.model.openai }).chat("m"),
  tools: toolsOf(stage),
  stopWhen: isStepCount(4),
  maxRetries: 0,
});

const user = (content: string): ModelMessage => ({ role: "user", content });

export const ai: Framework = {
  name: "AI SDK",
  run: (stage, run) => runProgram("ai", stage, run),
  ownRetry: { none: "it makes no tool call again" },
  resume: { none: "it keeps nothing: a run that died is run again" },
  async approval(stage) {
    stage.says(PAY);
    const given = { ...settings(stage), toolApproval: { pay: "user-approval" as const } };
    const asked = await generateText({ ...given, messages: [user(WORDS)] });
    const request = asked.content.find(({ type }) => type === "tool-approval-request");
    const { approvalId } = request as unknown as { approvalId: string };
    const yes: ToolApprovalResponse = {
      type: "tool-approval-response",
      approvalId,
      approved: true,
    };
    const messages: ModelMessage[] = [
      user(WORDS),
      ...asked.response.messages,
      { role: "tool", content: [yes] },
    ];
    for (const _ of [1, 2]) await generateText({ ...given, messages: structuredClone(messages) });
  },
};
