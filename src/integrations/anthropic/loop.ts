/**
 * Runs the tool calls of a message of Anthropic's models, for loops that people write themselves.
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

/** A message, by structure. */
export interface MessageLike {
  readonly content: readonly object[];
  readonly stop_reason?: string | null | undefined;
}

/** To append to `messages`. */
export interface ToolResultMessage {
  role: "user";
  // biome-ignore lint/suspicious/noExplicitAny: blocks of the SDK's own types
  content: { type: "tool_result"; tool_use_id: string; content: string | any[] }[];
}

const MAX_BLOCKS = 1_000;
/** The model was stopped in the middle of what it wrote. */
const CUT = new Set<unknown>(["max_tokens", "model_context_window_exceeded", "refusal"]);

/**
 * Calls the tools that the message asks for, under the guard, and returns what to append to the
 * conversation: one message with an answer for each call, none if there was no call.
 *
 * `tools` are those of `guardTools`, or those of `hf.tool()` by name. Calls of a toolset (browser, computer) are left to your program.
 *
 * @example
 * ```ts
 * const message = await client.messages.create({ model, max_tokens: 1_024, messages, tools });
 * const results = await runToolCalls(message, tools, { thread: chatId, messages });
 * messages.push({ role: "assistant", content: message.content }, ...results);
 * ```
 */
export async function runToolCalls(
  message: MessageLike,
  tools: LoopTools,
  options: LoopOptions,
): Promise<ToolResultMessage[]> {
  if (!Array.isArray(peek(message, "content"))) {
    throw new InvalidInputError("message", "must be a message of the model.");
  }
  const answers = await answerCalls(callsIn(message), tools, options);
  const content = answers.map(({ id, content: given }) => ({
    type: "tool_result" as const,
    tool_use_id: id,
    content: given as string,
  }));
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** A call of a toolset's member (browser, computer): its name may be that of a tool, and it is not the tool that is meant. */
const isMember = (block: unknown): boolean => typeof peek(block, "toolset_name") === "string";

function callsIn({ content, stop_reason: stopped }: MessageLike): readonly LoopCall[] {
  const blocks = peekItems(content, MAX_BLOCKS);
  return blocks
    .filter((block) => peek(block, "type") === "tool_use" && !isMember(block))
    .map((block) => ({
      id: String(peek(block, "id")),
      name: String(peek(block, "name")),
      args: peek(block, "input"),
      isCut: CUT.has(stopped) && block === blocks.at(-1),
    }));
}
