/**
 * The clients of MCP, of both SDKs: `guardMcpClient` around the client.
 *
 * @module
 */

import { code, type Template } from "../template.ts";

const example = (imports: string, ending: string): string => code`
  ${imports}
  import { guardMcpClient } from "holdfire/mcp";
  import { hf } from "./holdfire.config.${ending}";

  const client = new Client({ name: "example", version: "1.0.0" });

  /** The same client; its tool calls are guarded. Use only this one. */
  export const mcp = guardMcpClient(client, hf, {
    server: "memory",
    tools: { create_entities: { kind: "write" }, read_graph: { kind: "read" } },
  });

  /** Run it twice: it is the same scope, so the second run is answered from the ledger. */
  if (import.meta.main) {
    const args = ["-y", "@modelcontextprotocol/server-memory"];
    await client.connect(new StdioClientTransport({ command: "npx", args }));
    const entity = { name: "Ana", entityType: "payee", observations: ["is owed 40 euros"] };
    const result = await hf.scope("example/1", () =>
      mcp.callTool({ name: "create_entities", arguments: { entities: [entity] } }),
    );
    console.log(JSON.stringify(result.content, undefined, 2));
    await client.close();
    await hf.close();
  }
`;

export const mcp: Template = {
  name: "mcp",
  packages: ["@modelcontextprotocol/client"],
  needs: ["@modelcontextprotocol/client"],
  example: (ending) =>
    example(
      `import { Client } from "@modelcontextprotocol/client";
  import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";`,
      ending,
    ),
};

/** Its first version is one package for clients and servers. */
export const mcpFirst: Template = {
  name: "mcp-v1",
  packages: ["@modelcontextprotocol/sdk"],
  needs: ["@modelcontextprotocol/sdk"],
  example: (ending) =>
    example(
      `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
  import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";`,
      ending,
    ),
};
