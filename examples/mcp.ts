/**
 * MCP: an agent whose tools are those of a server, a person who approves on the command line, a lost reply, and a run
 * that is started again. One payout.
 *
 *     npx node examples/mcp.ts
 *
 * @module
 */

import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { absent, committed } from "holdfire";
import { guardMcpClient, type McpToolRules } from "holdfire/mcp";
import { ownRetries } from "holdfire/openai";
import OpenAI from "openai";
import { bank } from "./bank.ts";
import { hf, ledger } from "./holdfire.config.ts";
import { startPaymentsMcp } from "./support/payments-mcp.ts";
import { approveAll } from "./support/person.ts";

// An MCP server over HTTP with the tools "pay" and "find_payouts". Any server will do.
const server = await startPaymentsMcp(bank, "pay");

/** For each request: a client of its own, and the rules for it. */
async function toolsFor(thread: string, messages: Messages) {
  const client = await server.connect();
  const pay: McpToolRules = {
    kind: "destructive", // a person must approve it
    // Asked after a lost reply, before anything is sent again; here by a tool of the same server.
    readState: async ({ key }) => {
      const text = textOf(await client.callTool({ name: "find_payouts", arguments: { key } }));
      const [found] = JSON.parse(text);
      return found
        ? committed({ content: [{ type: "text", text: JSON.stringify(found) }] })
        : absent();
    },
  };
  return guardMcpClient(client, hf, {
    thread,
    messages: () => messages,
    tools: { find_payouts: "read", pay },
  });
}

type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const openai = ownRetries(new OpenAI(), hf);
  const messages: Messages = said.map((content) => ({ role: "user", content }));
  const mcp = await toolsFor(thread, messages);
  const tools = (await mcp.listTools()).tools.map(({ name, description = "", inputSchema }) => ({
    type: "function" as const,
    function: { name, description, parameters: inputSchema },
  }));
  for (;;) {
    const request = { model: "gpt-5", messages, tools };
    const { choices } = await openai.chat.completions.create(request, signal && { signal });
    const message = choices[0]?.message;
    if (!message?.tool_calls) {
      await mcp.close();
      return message?.content ?? "";
    }
    messages.push(message);
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      const { name, arguments: args } = call.function;
      const result = await mcp.callTool({ name, arguments: JSON.parse(args) });
      messages.push({ role: "tool", tool_call_id: call.id, content: textOf(result) });
    }
  }
}

/** What a model reads. */
function textOf(result: unknown): string {
  const [first] = CallToolResultSchema.parse(result).content;
  return first?.type === "text" ? first.text : "";
}

/** The same request three times: it is held, it pays, it is answered from the ledger. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  // In another terminal: npx holdfire inbox --by ana
  await approveAll(ledger, "ana");
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await server.close();
  await hf.close();
}
