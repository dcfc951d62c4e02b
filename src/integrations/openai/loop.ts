/**
 * Runs the tool calls of an OpenAI response, for loops that people write themselves.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { peek, peekItems } from "../../lang/peek.ts";
import {
  answerCalls,
  type LoopCall,
  type LoopOptions,
  type LoopTools,
} from "../shared/tools/tool-loop.ts";

/** A chat completion, by structure. */
export interface ChatCompletionLike {
  readonly choices: readonly {
    readonly finish_reason?: string | null | undefined;
    readonly message: { readonly tool_calls?: readonly object[] | undefined };
  }[];
}

/** A response, by structure. */
export interface ResponseLike {
  readonly output: readonly object[];
}

/** To append to `messages`. */
export interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** To append to `input`. */
export interface FunctionCallOutput {
  type: "function_call_output";
  call_id: string;
  output: string;
}

const MAX_CALLS = 1_000;
/** The model was stopped in the middle of what it wrote. */
const CUT = new Set<unknown>(["length", "content_filter"]);

/**
 * Calls the tools that the response asks for, under the guard, and returns what to append to the
 * conversation: an answer for each call, none if there was no call.
 *
 * `tools` are those of `guardTools`, or those of `hf.tool()` by name.
 *
 * @example
 * ```ts
 * const completion = await client.chat.completions.create({ model, messages, tools });
 * const results = await runToolCalls(completion, tools, { thread: chatId, messages });
 * messages.push(completion.choices[0].message, ...results);
 * ```
 */
export function runToolCalls(
  response: ChatCompletionLike,
  tools: LoopTools,
  options: LoopOptions,
): Promise<ToolMessage[]>;
export function runToolCalls(
  response: ResponseLike,
  tools: LoopTools,
  options: LoopOptions,
): Promise<FunctionCallOutput[]>;
export async function runToolCalls(
  response: ChatCompletionLike | ResponseLike,
  tools: LoopTools,
  options: LoopOptions,
): Promise<ToolMessage[] | FunctionCallOutput[]> {
  if (Array.isArray(peek(response, "choices"))) {
    const answers = await answerCalls(chatCalls(response as ChatCompletionLike), tools, options);
    return answers.map(({ id, content }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: String(content),
    }));
  }
  if (Array.isArray(peek(response, "output"))) {
    const answers = await answerCalls(responseCalls(response as ResponseLike), tools, options);
    return answers.map(({ id, content }) => ({
      type: "function_call_output" as const,
      call_id: id,
      output: String(content),
    }));
  }
  throw new InvalidInputError("response", "must be a chat completion or a response.");
}

function chatCalls({ choices: [choice] }: ChatCompletionLike): readonly LoopCall[] {
  const all = peekItems(choice?.message.tool_calls, MAX_CALLS);
  const isCut = CUT.has(choice?.finish_reason);
  return all
    .filter((call) => peek(call, "type") === "function")
    .map((call, at) => {
      const made = peek(call, "function");
      return {
        id: String(peek(call, "id")),
        name: String(peek(made, "name")),
        args: peek(made, "arguments"),
        isCut: isCut && at === all.length - 1,
      };
    });
}

function responseCalls({ output }: ResponseLike): readonly LoopCall[] {
  return peekItems(output, MAX_CALLS)
    .filter((item) => peek(item, "type") === "function_call")
    .map((item) => ({
      id: String(peek(item, "call_id")),
      name: String(peek(item, "name")),
      args: peek(item, "arguments"),
      isCut: peek(item, "status") === "incomplete",
    }));
}
