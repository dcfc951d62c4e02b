/**
 * The tools that the conformance suite asks a server for.
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  MissingRequiredClientCapabilityError,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { KEYWORDS } from "./server-schema.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** What a tool does, and its schema where it takes arguments. */
interface Tool {
  readonly run: (context: ServerContext, args: Arguments, server: Server) => object;
  readonly inputSchema?: object;
}

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const STEP_MS = 50;

export const states: RequestStateCodec = createRequestStateCodec({
  key: "a key of the conformance server, 32 bytes",
});

const texts = (text: string) => ({ content: [{ type: "text", text }] });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const embedded = (uri: string, mimeType: string, text: string) => ({
  type: "resource",
  resource: { uri, mimeType, text },
});
const strings = (...names: readonly string[]) => ({
  type: "object" as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
  required: [...names],
});

/** A tool that asks in the middle of a call, as revisions do until 2025-11-25. */
const asks = (message: string, requestedSchema: object): Tool => ({
  run: async ({ mcpReq }, args) => {
    const question = { message: String(args.message ?? message), requestedSchema };
    const { action, content } = await mcpReq.elicitInput(question as never);
    return texts(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
  },
});

const form = (message: string, ...names: readonly string[]): InputRequest =>
  inputRequired.elicit({ message, requestedSchema: strings(...names) });
const confirm = inputRequired.elicit({
  message: "Please confirm",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
});
const sample = (text: string): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text } }],
    maxTokens: 100,
  });

/** A tool that is called again with what it has asked for. A round is over when all of it is there. */
const rounds = (
  steps: readonly Readonly<Record<string, InputRequest>>[],
  { hasState = true } = {},
): Tool => ({
  run: async ({ mcpReq }) => {
    const given = mcpReq.inputResponses ?? {};
    const step = (hasState ? mcpReq.requestState<number>() : undefined) ?? 0;
    const asked = Object.entries(steps[step] ?? {});
    const isThere = ([name, { method }]: (typeof asked)[number]) =>
      method === "elicitation/create" ? acceptedContent(given, name) : given[name];
    const next = asked.every(isThere) ? step + 1 : step;
    const inputRequests = steps[next];
    if (inputRequests === undefined) return texts(`state-ok: ${JSON.stringify(given)}`);
    if (!hasState) return inputRequired({ inputRequests });
    return inputRequired({ inputRequests, requestState: await states.mint(next) });
  },
});

const capabilitiesOf = ({ mcpReq }: ServerContext): ClientCapabilities =>
  (mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ] ?? {};

const NAMED = { user_name: form("What is your name?", "name") };
const choices = (name: string) =>
  [1, 2, 3].map((one) => ({ const: `value${one}`, title: `${name} ${one}` }));
const options = ["option1", "option2", "option3"];

export const TOOLS: Readonly<Record<string, Tool>> = {
  test_simple_text: { run: () => texts("This is a simple text response for testing.") },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: {
    run: () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    run: () => ({
      content: [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource."),
      ],
    }),
  },
  test_multiple_content_types: {
    run: () => {
      const mixed = embedded("test://mixed-content-resource", "application/json", '{"value":123}');
      return { content: [...texts("Multiple content types test:").content, image, mixed] };
    },
  },
  test_error_handling: {
    run: () => ({
      ...texts("This tool intentionally returns an error for testing"),
      isError: true,
    }),
  },
  test_tool_with_logging: {
    run: async ({ mcpReq }) => {
      for (const step of ["execution started", "processing data", "execution completed"]) {
        await mcpReq.log("info", `Tool ${step}`);
        await delay(STEP_MS);
      }
      return texts("Logged.");
    },
  },
  test_logging_tool: {
    run: async ({ mcpReq }) => {
      await mcpReq.log("info", "A line that is sent only if it was asked for");
      return texts("Logged.");
    },
  },
  test_tool_with_progress: {
    run: async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100 };
        if (progressToken !== undefined)
          await mcpReq.notify({ method: "notifications/progress", params });
        await delay(STEP_MS);
      }
      return texts("Done.");
    },
  },
  test_sampling: {
    inputSchema: strings("prompt"),
    run: async ({ mcpReq }, { prompt }) => {
      const content = { type: "text" as const, text: String(prompt) };
      const messages = [{ role: "user" as const, content }];
      const answer = await mcpReq.requestSampling({ messages, maxTokens: 100 });
      return texts(`LLM response: ${JSON.stringify(answer.content)}`);
    },
  },
  test_elicitation: {
    ...asks("", strings("username", "email")),
    inputSchema: strings("message"),
  },
  test_elicitation_sep1034_defaults: asks("Please review", {
    type: "object",
    properties: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
  }),
  test_elicitation_sep1330_enums: asks("Please choose", {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: choices("Option") },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["1", "2", "3"] },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: choices("Choice") } },
    },
  }),
  test_missing_capability: {
    run: (context) => {
      if (capabilitiesOf(context).sampling) return texts("The client can sample.");
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    },
  },
  test_streaming_elicitation: rounds([NAMED], { hasState: false }),
  test_trigger_tool_change: {
    run: async (_context, _args, server) => {
      await server.sendToolListChanged();
      return texts("The list of tools has changed.");
    },
  },
  test_trigger_prompt_change: {
    run: async (_context, _args, server) => {
      await server.sendPromptListChanged();
      return texts("The list of prompts has changed.");
    },
  },
  test_input_required_result_elicitation: rounds([NAMED], { hasState: false }),
  test_input_required_result_sampling: rounds(
    [{ capital_question: sample("What is the capital of France?") }],
    { hasState: false },
  ),
  test_input_required_result_list_roots: rounds([{ client_roots: inputRequired.listRoots() }], {
    hasState: false,
  }),
  test_input_required_result_request_state: rounds([{ confirm }]),
  test_input_required_result_tampered_state: rounds([{ confirm }]),
  test_input_required_result_multiple_inputs: rounds([
    { ...NAMED, greeting: sample("Generate a greeting"), client_roots: inputRequired.listRoots() },
  ]),
  test_input_required_result_multi_round: rounds([
    { step1: form("Step 1: What is your name?", "name") },
    { step2: form("Step 2: What is your favorite color?", "color") },
  ]),
  test_input_required_result_capabilities: {
    run: (context, args, server) => {
      const { elicitation, sampling } = capabilitiesOf(context);
      const wanted = {
        ...(elicitation ? NAMED : {}),
        ...(sampling ? { greeting: sample("Generate a greeting") } : {}),
      };
      return rounds([wanted], { hasState: false }).run(context, args, server);
    },
  },
  json_schema_2020_12_tool: {
    run: () => texts("Its schema is what counts."),
    inputSchema: KEYWORDS,
  },
};

export const askContext: InputRequest = form("What context should the prompt use?", "context");
