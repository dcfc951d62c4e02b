import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  APICallError,
  embed,
  experimental_getVideoStatus,
  experimental_startVideo,
  generateText,
  type LanguageModel,
  streamText,
} from "ai";
import { MockVideoModelV4 } from "ai/test";
import { Agent, fetch as transport } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { ownRetries } from "../../../src/integrations/ai/index.ts";
import { type CountingServer, FAILURES } from "../../servers/counting-server.ts";
import { after, chatAnswer, chatStream } from "../shared/chat-answers.ts";
import { count, heard, openHoldfire, serve } from "../shared/owning.ts";

/** The SDK's own timeouts are the caller's; this one is the transport's. */
function impatient(headersTimeout: number): typeof fetch {
  const dispatcher = new Agent({ headersTimeout });
  onTestFinished(() => dispatcher.destroy());
  return (url, init) => transport(url as string, { ...init, dispatcher } as object) as never;
}

const providerOf = ({ url, patienceMs }: CountingServer) =>
  createOpenAI({ apiKey: "x", baseURL: `${url}/v1`, fetch: impatient(patienceMs) });
const modelOf = (server: CountingServer) => providerOf(server).chat("m");
const ask = (model: LanguageModel, more: object = {}) =>
  generateText({ model, prompt: "hi", ...more });
const read = async (model: LanguageModel) => {
  let text = "";
  let failure: unknown;
  const { textStream } = streamText({
    model,
    prompt: "hi",
    onError: ({ error }) => {
      failure = error;
    },
  });
  for await (const part of textStream) text += part;
  if (failure) throw failure;
  return text;
};

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it.each([1, 3])("at %d attempts as many requests arrive", async (attempts) => {
    const own = (server: CountingServer) =>
      ownRetries(modelOf(server), openHoldfire(), { attempts });
    // The transport's clock ticks once a second: they wait for it together.
    const counts = await Promise.all([
      count(failure, (server) => ask(own(server))),
      count(failure, (server) => ask(own(server), { maxRetries: 3 })),
      count(failure, (server) => read(own(server))),
    ]);
    expect(counts).toEqual([attempts, attempts, attempts]);
  });
});

it("every model is meant: those of other providers and other kinds, too", async () => {
  const hf = openHoldfire();
  const claude = ({ url }: CountingServer) =>
    ownRetries(createAnthropic({ apiKey: "x", baseURL: `${url}/v1` })("m"), hf, { attempts: 2 });
  expect(await count("503", (server) => ask(claude(server)))).toBe(2);
  const embedder = (server: CountingServer) =>
    ownRetries(providerOf(server).embeddingModel("m"), hf, { attempts: 2 });
  const call = (server: CountingServer) => embed({ model: embedder(server), value: "hi" });
  expect(await count("503", call)).toBe(2);
});

it("a video is begun, and asked about, as often as there are attempts", async () => {
  const post = async (url: string): Promise<never> => {
    const { status: statusCode } = await fetch(url, { method: "POST" });
    throw new APICallError({ message: "busy", url, requestBodyValues: {}, statusCode });
  };
  const makerOf = ({ url }: CountingServer) =>
    new MockVideoModelV4({ doStart: () => post(url), doStatus: () => post(url) });
  // Its types do not fit its own functions under `exactOptionalPropertyTypes`.
  const start = (model: MockVideoModelV4) =>
    experimental_startVideo({ model: model as never, prompt: "a cat" });
  const look = (model: MockVideoModelV4) =>
    experimental_getVideoStatus(model as never, { operation: {} });
  expect(await count("503", (server) => start(makerOf(server)))).toBe(3);
  const own = (server: CountingServer) =>
    ownRetries(makerOf(server), openHoldfire(), { attempts: 2 });
  expect(await count("503", (server) => start(own(server)))).toBe(2);
  expect(await count("503", (server) => look(own(server)))).toBe(2);
});

it("without being owned it sends again", async () => {
  expect(await count("503", (server) => ask(modelOf(server)))).toBe(3);
});

it("the caller's own timeout ends it: what was asked for in time cannot come later", async () => {
  const own = (server: CountingServer) => ownRetries(modelOf(server), openHoldfire());
  const never = () => {};
  expect(await count(never, (server) => ask(own(server), { timeout: 1_000 }))).toBe(1);
});

it("an error that is no use to repeat is not repeated", async () => {
  const own = (server: CountingServer) => ownRetries(modelOf(server), openHoldfire());
  const bad = (server: CountingServer) => ask(own(server));
  expect(await count((response) => response.writeHead(400).end("{}"), bad)).toBe(1);
});

it("the service's own word counts: x-should-retry", async () => {
  const own = (server: CountingServer) => ownRetries(modelOf(server), openHoldfire());
  const never = { "x-should-retry": "false" };
  const call = (server: CountingServer) => ask(own(server));
  expect(await count((response) => response.writeHead(503, never).end("{}"), call)).toBe(1);
});

it("a body that breaks off is asked for again", async () => {
  const server = await serve((response, arrival, nth) => {
    if (nth > 1) return chatAnswer("whole")(response, arrival, nth);
    response.writeHead(200, { "content-type": "application/json" }).write("{");
    setTimeout(() => response.socket?.destroy(), 20);
  });
  const model = ownRetries(modelOf(server), openHoldfire());
  expect((await ask(model)).text).toBe("whole");
  expect(server.arrivals).toHaveLength(2);
});

it("a call that comes through at last gives its answer, and each attempt is told", async () => {
  const hf = openHoldfire();
  const samples = heard(hf, "sample");
  const server = await serve(after(1, chatAnswer("hello")));
  const model = modelOf(server);
  expect(ownRetries(ownRetries(model, hf), hf)).toBe(model);
  expect((await ask(model)).text).toBe("hello");
  expect(samples).toMatchObject([
    { client: "ai:openai.chat", step: "generate", attempt: 1, status: 503, wireRequests: 1 },
    { attempt: 2, wireRequests: 1 },
  ]);
});

it("a stream comes through at last, and is not asked for again once it has begun", async () => {
  const hf = openHoldfire();
  const whole = await serve(after(2, chatStream(["hel", "lo"])));
  expect(await read(ownRetries(modelOf(whole), hf))).toBe("hello");
  expect(whole.arrivals).toHaveLength(3);
  const broken = await serve(chatStream(["hel"], "breaks"));
  await read(ownRetries(modelOf(broken), hf)).catch(() => {});
  expect(broken.arrivals).toHaveLength(1);
});

it("a model that is only a name is refused, with what is known", () => {
  const name = "openai/gpt-5" as unknown as ReturnType<typeof modelOf>;
  expect(() => ownRetries(name, openHoldfire())).toThrow(/holdfire\/ai/);
});
