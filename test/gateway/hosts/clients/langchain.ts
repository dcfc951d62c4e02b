/** LangChain's MCP adapter: the server's tools as tools of LangChain, called as an agent of it calls them. */
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { type Connect, textOf } from "../client.ts";

export const connect: Connect = async ({ command, args, env }) => {
  const payments = { transport: "stdio", command, args, env } as const;
  const client = new MultiServerMCPClient({ mcpServers: { payments } });
  const tools = await client.getTools();
  return {
    async call(name, given, signal) {
      const tool = tools.find((one) => one.name === name);
      if (!tool) throw new Error(`There is no tool ${name}.`);
      return textOf(await tool.invoke(given, { signal }));
    },
    close: () => client.close(),
  };
};
