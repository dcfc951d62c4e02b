/** The client of the MCP SDK v2, which asks the server for the newest revision of the protocol. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answerOf, type Connect, textOf } from "../client.ts";

export const connect: Connect = async ({ command, args, env, person }) => {
  const capabilities = person ? { elicitation: { form: {} } } : {};
  const versionNegotiation = { mode: "auto" } as const;
  const client = new Client(
    { name: "host", version: "1.0.0" },
    { capabilities, versionNegotiation },
  );
  if (person) client.setRequestHandler("elicitation/create", () => answerOf(person));
  await client.connect(new StdioClientTransport({ command, args, env }));
  return {
    call: async (name, given, signal) =>
      textOf(await client.callTool({ name, arguments: given }, { signal })),
    close: () => client.close(),
  };
};
