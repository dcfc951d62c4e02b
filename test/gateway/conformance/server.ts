/**
 * A server over stdio, by the official SDK, with what the conformance suite asks a server for, in both revisions of the
 * protocol.
 *
 * @module
 */

import {
  acceptedContent,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { askContext, PIXEL, states, TOOLS } from "./server-tools.ts";

const says = (content: object) => ({ role: "user", content });
const text = (words: string) => says({ type: "text", text: words });

type Prompt = (args: Readonly<Record<string, string>>) => object[];

const PROMPTS: Readonly<Record<string, { takes: readonly string[]; messages: Prompt }>> = {
  test_simple_prompt: { takes: [], messages: () => [text("This is a simple prompt for testing.")] },
  test_prompt_with_arguments: {
    takes: ["arg1", "arg2"],
    messages: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    takes: ["resourceUri"],
    messages: ({ resourceUri: uri }) => {
      const resource = { uri, mimeType: "text/plain", text: "Embedded resource content." };
      return [says({ type: "resource", resource }), text("Please process the resource above.")];
    },
  },
  test_prompt_with_image: {
    takes: [],
    messages: () => [
      says({ type: "image", data: PIXEL, mimeType: "image/png" }),
      text("Please analyze the image above."),
    ],
  },
  test_input_required_result_prompt: { takes: [], messages: () => [text("With context.")] },
};

const RESOURCES: Readonly<Record<string, object>> = {
  "test://static-text": {
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched." },
};

function read(uri: string): object {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  if (id !== undefined) return { uri, mimeType: "application/json", text: JSON.stringify(data) };
  const found = RESOURCES[uri];
  if (found === undefined) throw new ResourceNotFoundError(uri);
  return { uri, ...found };
}

const described = (name: string) => ({
  name,
  description: `For the scenarios that ask for ${name}`,
});

serveStdio(() => {
  const server = new Server(
    { name: "conformance", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: states.verify },
    },
  );
  server.setRequestHandler("tools/list", () => {
    const schema = { type: "object" as const };
    const tools = Object.entries(TOOLS).map(([name, { inputSchema = schema }]) => ({
      ...described(name),
      inputSchema: inputSchema as typeof schema,
    }));
    return { tools };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
    return (await tool.run(context, params.arguments ?? {}, server)) as { content: [] };
  });
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, { takes }]) => ({
      ...described(name),
      arguments: takes.map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }, { mcpReq }) => {
    const { name, arguments: args = {} } = params;
    const prompt = PROMPTS[name];
    if (prompt === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    }
    const isMissing = !acceptedContent(mcpReq.inputResponses, "user_context");
    if (name === "test_input_required_result_prompt" && isMissing) {
      return inputRequired({ inputRequests: { user_context: askContext } });
    }
    return { messages: prompt.messages(args) as [] };
  });
  server.setRequestHandler("resources/list", () => ({
    resources: Object.keys(RESOURCES).map((uri) => ({ uri, ...described(uri) })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", ...described("template") }],
  }));
  server.setRequestHandler("resources/read", ({ params }) => ({
    contents: [read(params.uri)] as never[],
  }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park", "party"], total: 3, hasMore: false },
  }));
  return server;
});
