/** The MCP client of the AI SDK. It does not tell the server when it has given up. */
import { createMCPClient, ElicitationRequestSchema } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { answerOf, type Connect, textOf } from "../client.ts";

export const connect: Connect = async ({ command, args, env, person }) => {
  const client = await createMCPClient({
    transport: new Experimental_StdioMCPTransport({ command, args, env }),
    capabilities: person ? { elicitation: {} } : {},
  });
  if (person) client.onElicitationRequest(ElicitationRequestSchema, () => answerOf(person));
  return {
    call: async (name, given, signal) =>
      textOf(await client.callTool({ name, arguments: given, options: { signal } })),
    close: () => client.close(),
  };
};
