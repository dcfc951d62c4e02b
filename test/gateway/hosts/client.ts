/**
 * What a host's MCP client does, in the least that a host needs: it connects to a program over stdio, calls a tool and
 * closes. Each file in `clients/` is that for one library.
 *
 * @module
 */

/** The program that the client starts: the gateway, or the server itself. */
export interface Program {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  /** What a person answers who is asked by way of the client; without it the client says that it cannot ask. */
  readonly person?: "yes" | "no" | undefined;
}

export interface Connection {
  /** What the model is given as the answer. Throws what the library throws, also when `giveUp` says that it has waited enough. */
  call(tool: string, args: Record<string, unknown>, giveUp: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export type Connect = (program: Program) => Promise<Connection>;

/** The answer of a person who is shown the gateway's question. */
export const answerOf = (
  person: Program["person"],
): { action: "accept"; content: { confirm: boolean } } => ({
  action: "accept",
  content: { confirm: person === "yes" },
});

/** The texts of a result, of its content or of one part of it, as a model reads them. */
export function textOf(answer: unknown): string {
  const { content = answer } = Object(answer) as { content?: unknown };
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => String(Object(part).text ?? part)).join("\n");
}

export interface Library {
  /** Its file in `clients/`. */
  readonly name: string;
  readonly title: string;
  readonly package: string;
  /** It can ask a person for the server. */
  readonly elicits: boolean;
}

export const LIBRARIES: readonly Library[] = [
  {
    name: "sdk-1",
    title: "MCP SDK v1",
    package: "@modelcontextprotocol/sdk",
    elicits: true,
  },
  {
    name: "sdk-2",
    title: "MCP SDK v2",
    package: "@modelcontextprotocol/client",
    elicits: true,
  },
  { name: "ai", title: "AI SDK", package: "@ai-sdk/mcp", elicits: true },
  { name: "langchain", title: "LangChain", package: "@langchain/mcp-adapters", elicits: false },
  { name: "openai-agents", title: "OpenAI Agents", package: "@openai/agents", elicits: false },
  { name: "mastra", title: "Mastra", package: "@mastra/mcp", elicits: true },
];
