/** The client of the MCP SDK v1. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { answerOf, type Connect, textOf } from "../client.ts";

export const connect: Connect = async ({ command, args, env, person }) => {
  const capabilities = person ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "host", version: "1.0.0" }, { capabilities });
  if (person) client.setRequestHandler(ElicitRequestSchema, () => answerOf(person));
  await client.connect(new StdioClientTransport({ command, args, env }));
  return {
    call: async (name, given, signal) =>
      textOf(await client.callTool({ name, arguments: given }, undefined, { signal })),
    close: () => client.close(),
  };
};
