/** Model calls as spans and metrics of OpenTelemetry's conventions for GenAI, with real clients and real SDKs. */
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatOpenAI } from "@langchain/openai";
import * as api from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { generateText, streamText } from "ai";
import OpenAI, { AzureOpenAI } from "openai";
import { beforeEach, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { ownRetries as ownModel } from "../../src/integrations/ai/index.ts";
import { ownRetries as ownAnthropic } from "../../src/integrations/anthropic/index.ts";
import { ownRetries as ownChat } from "../../src/integrations/langchain/index.ts";
import { ownRetries } from "../../src/integrations/openai/index.ts";
import { providerName } from "../../src/integrations/shared/retries/model-names.ts";
import { instrument } from "../../src/observe/otel.ts";
import { openStage, type Stage } from "../integrations/shared/owned.ts";
import { USAGE } from "../servers/model-server.ts";
import { idOf, parentOf, registerContexts, type Telemetry, telemetry } from "./telemetry.ts";

const QUESTION = { model: "gpt-test", input: "a private prompt" } as const;
const MESSAGES = [{ role: "user" as const, content: "a private prompt" }];

let stage: Stage;
let seen: Telemetry;

beforeEach(async () => {
  stage = await openStage();
  seen = telemetry();
  instrument(stage.hf, seen.where);
});

const openai = () =>
  ownRetries(new OpenAI({ baseURL: stage.server.openai, apiKey: "k" }), stage.hf);

const chatSpans = (): ReadableSpan[] => seen.spans().filter(({ name }) => name.startsWith("chat"));

const TOKENS = {
  "gen_ai.usage.input_tokens": USAGE.input,
  "gen_ai.usage.output_tokens": USAGE.output,
};

describe("a span for each call", () => {
  test("over all its requests, with model, provider and tokens", async () => {
    stage.server.script({ act: "status", status: 503 }, { act: "say" });
    await stage.pass(openai().responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(2);
    expect(chatSpans()).toMatchObject([
      {
        name: "chat gpt-test",
        kind: api.SpanKind.CLIENT,
        status: { code: api.SpanStatusCode.UNSET },
        instrumentationScope: { name: "holdfire", version: manifest.version },
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "openai",
          "gen_ai.request.model": "gpt-test",
          "gen_ai.response.model": expect.any(String),
          ...TOKENS,
          "holdfire.attempts": 2,
          "holdfire.replayed": false,
        },
      },
    ]);
    expect(JSON.stringify(seen.spans().map(({ attributes }) => attributes))).not.toContain(
      "private",
    );
  });

  test("ends when a stream has been read to its end", async () => {
    const stream = await stage.pass(openai().responses.create({ ...QUESTION, stream: true }));
    expect(chatSpans()).toEqual([]);
    for await (const _ of stream);
    expect(chatSpans()).toMatchObject([{ attributes: TOKENS }]);
  });

  test("of a stream that its reader leaves says so", async () => {
    stage.server.script({ act: "stall", afterEvents: 2 });
    const stream = await stage.pass(openai().responses.create({ ...QUESTION, stream: true }));
    for await (const _ of stream) break;
    expect(chatSpans()).toMatchObject([
      { status: { code: api.SpanStatusCode.ERROR }, attributes: { "error.type": "partial" } },
    ]);
  });

  test("that failed has the status, and no words of the service", async () => {
    stage.server.usually({ act: "status", status: 400, body: { error: { message: "secret" } } });
    await stage.fail(openai().responses.create(QUESTION));
    const [span] = chatSpans();
    expect(span).toMatchObject({
      status: { code: api.SpanStatusCode.ERROR },
      attributes: { "error.type": "400", "holdfire.attempts": 1 },
    });
    expect(span?.status.message).toBeUndefined();
  });

  test("of Anthropic, and none for a request that asks no model", async () => {
    const client = ownAnthropic(
      new Anthropic({ baseURL: stage.server.anthropic, apiKey: "k" }),
      stage.hf,
    );
    const asked = { model: "claude-test", max_tokens: 9, messages: MESSAGES };
    await stage.pass(client.messages.create(asked));
    await stage.pass(openai().models.list());
    expect(seen.spans()).toMatchObject([
      {
        name: "chat claude-test",
        attributes: { "gen_ai.provider.name": "anthropic", ...TOKENS },
      },
    ]);
  });

  test("of Azure names its provider", async () => {
    const client = new AzureOpenAI({
      baseURL: stage.server.openai,
      ...{ apiKey: "k", apiVersion: "2024-10-21" },
    });
    await stage.pass(
      ownRetries(client, stage.hf).chat.completions.create({ model: "m", messages: MESSAGES }),
    );
    expect(chatSpans()[0]?.attributes).toMatchObject({ "gen_ai.provider.name": "azure.ai.openai" });
  });

  test("of the AI SDK, generated and streamed", async () => {
    const provider = createOpenAI({ apiKey: "k", baseURL: stage.server.openai });
    const model = ownModel(provider.chat("gpt-test"), stage.hf);
    await stage.pass(generateText({ model, prompt: "Hi" }));
    const { textStream } = streamText({ model, prompt: "Hi" });
    let said = "";
    for await (const part of textStream) said += part;
    expect(said).not.toBe("");
    const attributes = { "gen_ai.provider.name": "openai", ...TOKENS };
    expect(chatSpans()).toMatchObject([
      { name: "chat gpt-test", attributes },
      { name: "chat gpt-test", attributes },
    ]);
  });

  test("is one where a model and the client under it are both owned", async () => {
    const configuration = { baseURL: stage.server.openai };
    const chat = new ChatOpenAI({ model: "gpt-test", apiKey: "k", configuration });
    const model = ownChat(chat, stage.hf);
    await stage.pass(model.invoke("Hi"));
    const inner = Reflect.get(Object(Reflect.get(chat, "completions")), "client");
    ownRetries(inner as OpenAI, stage.hf);
    await stage.pass(model.invoke("Hi"));
    expect(stage.server.arrivals).toHaveLength(2);
    const attributes = { "gen_ai.provider.name": "openai", ...TOKENS, "holdfire.attempts": 1 };
    expect(chatSpans()).toHaveLength(2);
    expect(chatSpans()[0]?.attributes).toMatchObject(attributes);
    expect(await seen.points("gen_ai.client.token.usage")).toMatchObject([
      { value: 2, sum: 2 * USAGE.input },
      { value: 2, sum: 2 * USAGE.output },
    ]);
  });

  test("is the parent of what the client sends, and the child of the caller's", async () => {
    registerContexts();
    const { tracerProvider } = seen.where;
    const tracer = tracerProvider.getTracer("test");
    const another = stage.another();
    instrument(another, { api, tracerProvider });
    const client = new OpenAI({
      ...{ baseURL: stage.server.openai, apiKey: "k" },
      fetch: (url, init) => {
        tracer.startSpan("POST").end();
        return fetch(url, init);
      },
    });
    const caller = tracer.startSpan("caller");
    const active = api.trace.setSpan(api.context.active(), caller);
    await api.context.with(active, () =>
      stage.pass(ownRetries(client, another).responses.create(QUESTION)),
    );
    const of = (name: string) => seen.spans().find((span) => span.name === name);
    const [call] = chatSpans();
    expect(call && parentOf(call)).toBe(caller.spanContext().spanId);
    const post = of("POST");
    expect(post && parentOf(post)).toBe(idOf(call));
  });
});

describe("metrics", () => {
  test("the duration of each call, and the tokens of each answer", async () => {
    stage.server.script({ act: "status", status: 503 }, { act: "say" });
    await stage.pass(openai().responses.create(QUESTION));
    const of = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-test",
    };
    expect(await seen.points("gen_ai.client.operation.duration")).toMatchObject([
      { unit: "s", value: 1, attributes: of },
    ]);
    expect(await seen.points("gen_ai.client.token.usage")).toMatchObject([
      {
        ...{ unit: "{token}", value: 1, sum: USAGE.input },
        attributes: { ...of, "gen_ai.token.type": "input" },
      },
      {
        ...{ unit: "{token}", value: 1, sum: USAGE.output },
        attributes: { ...of, "gen_ai.token.type": "output" },
      },
    ]);
    // One for each request.
    expect(await seen.points("holdfire.sample.duration")).toMatchObject([
      { value: 1, attributes: { "http.response.status_code": 503 } },
      { value: 1 },
    ]);
  });

  test("a recorded answer is a span, and neither time nor tokens", async () => {
    const client = ownRetries(new OpenAI({ baseURL: stage.server.openai, apiKey: "k" }), stage.hf, {
      record: true,
    });
    const ask = () => stage.hf.scope("s", () => client.responses.create(QUESTION), { run: "r" });
    await stage.pass(ask());
    await stage.pass(ask());
    expect(stage.server.arrivals).toHaveLength(1);
    const replayed = chatSpans().map(({ attributes }) => attributes["holdfire.replayed"]);
    expect(replayed).toEqual([false, true]);
    expect(await seen.points("gen_ai.client.operation.duration")).toMatchObject([{ value: 1 }]);
    expect(await seen.points("gen_ai.client.token.usage")).toMatchObject([
      { value: 1 },
      { value: 1 },
    ]);
  });
});

test.each([
  ["openai.responses", "openai"],
  ["azure-openai.chat", "azure.ai.openai"],
  ["google.vertex.chat", "gcp.vertex_ai"],
  ["google.generative-ai", "gcp.gemini"],
  ["amazon-bedrock", "aws.bedrock"],
  ["xai.chat", "x_ai"],
  ["mistral.chat", "mistral_ai"],
  ["my-own.chat", "my-own"],
])("a client calls its provider %s, the conventions %s", (given, name) => {
  expect(providerName(given)).toBe(name);
});
