/** Mastra's MCP client. When the connection breaks it connects again and repeats the call by itself, once. */
import { MCPClient } from "@mastra/mcp";
import { answerOf, type Connect, textOf } from "../client.ts";

export const connect: Connect = async ({ command, args, env, person }) => {
  const inputRequests = person && (async () => answerOf(person));
  const client = new MCPClient({
    id: crypto.randomUUID(),
    servers: { payments: { command, args, env, ...(inputRequests && { inputRequests }) } },
  });
  const { payments } = await client.listToolsets();
  return {
    async call(name, given, abortSignal) {
      const tool = payments?.[name];
      if (!tool?.execute) throw new Error(`There is no tool ${name}.`);
      return textOf(await tool.execute(given, { abortSignal } as never));
    },
    close: () => client.disconnect(),
  };
};
