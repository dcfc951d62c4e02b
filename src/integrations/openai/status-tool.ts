/**
 * `hf.statusTool()` in the shapes that the OpenAI SDK runs.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { peek } from "../../lang/peek.ts";
import { statusCall } from "../shared/tools/guard-function.ts";
import { putHandle } from "../shared/tools/tool-loop.ts";
import { type RunnerTurnOptions, runnerTurn, type Turn } from "../shared/tools/turn.ts";

const LINE = "Pass { thread, messages } to statusTool";

/** For `runTools` and chat completions. */
export interface ChatStatusTool {
  type: "function";
  function: {
    name: string;
    description: string;
    parameters: { [keyword: string]: unknown };
    parse(raw: string): Promise<object>;
    function(args: object, runner: unknown): Promise<string>;
  };
}

/** For `ResponsesToolRunner`; its `tool` is for responses that you create yourself. */
export interface ResponsesStatusTool {
  tool: {
    type: "function";
    name: string;
    description: string;
    parameters: { [keyword: string]: unknown };
    strict: boolean;
  };
  execute(args: Record<string, unknown>): Promise<string>;
}

/** The status tool for `runTools`, or for chat completions with `runToolCalls`. */
export function statusTool(hf: Holdfire, options: RunnerTurnOptions = {}): ChatStatusTool {
  const { name, description, parameters, ask } = parts(hf);
  const tool: ChatStatusTool = {
    type: "function",
    function: {
      name,
      description,
      parameters,
      parse: async (raw) => JSON.parse(raw),
      function: (args, runner) =>
        ask(args, runnerTurn({ ...options, messages: peek(runner, "messages") })),
    },
  };
  return putHandle(tool, { name, call: ask });
}

/** The status tool for `ResponsesToolRunner`, or for responses with `runToolCalls`. */
export function responsesStatusTool(
  hf: Holdfire,
  options: RunnerTurnOptions = {},
): ResponsesStatusTool {
  const { name, description, parameters, ask } = parts(hf);
  const tool: ResponsesStatusTool = {
    tool: { type: "function", name, description, parameters, strict: true },
    execute: (args) => ask(args, runnerTurn(options)),
  };
  return putHandle(tool, { name, call: ask });
}

function parts(hf: Holdfire) {
  const status = hf.statusTool();
  const { toolName: name, description, inputSchema } = status;
  const ask = async (args: unknown, turn: Turn) =>
    JSON.stringify(await statusCall(status, args, turn, LINE));
  return { name, description, parameters: { ...inputSchema }, ask };
}
