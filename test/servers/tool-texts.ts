/**
 * What a model reads as the results of tools, in the wire formats of OpenAI (chat completions, responses) and Anthropic.
 *
 * @module
 */

/** A message or an item of a conversation. */
export interface Message {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

/** The texts of tool results in it. */
export function textsIn({ role, type, content, output }: Message): readonly string[] {
  if (role === "tool") return [String(content)];
  if (type === "function_call_output") return [String(output)];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => {
    if (block.type !== "tool_result") return [];
    return typeof block.content === "string" ? [block.content] : [block.content[0].text];
  });
}
