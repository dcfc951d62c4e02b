/** `MCPServerStdio` of OpenAI Agents. Its runner lists the tools before each turn, and so does this. */
import { MCPServerStdio } from "@openai/agents";
import { type Connect, textOf } from "../client.ts";

export const connect: Connect = async ({ command, args, env }) => {
  const server = new MCPServerStdio({ command, args, env, clientSessionTimeoutSeconds: 60 });
  await server.connect();
  return {
    async call(tool, given, signal) {
      await server.listTools();
      return textOf(await server.callTool(tool, given, undefined, { signal }));
    },
    close: () => server.close(),
  };
};
