import { ChatOpenAI } from "@langchain/openai";
import { createAgent, initChatModel, modelRetryMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/langchain/index.ts";
import { type Answer, type CountingServer, FAILURES } from "../../servers/counting-server.ts";
import { after, chatAnswer, chatStream } from "../shared/chat-answers.ts";
import { count, heard, openHoldfire, serve } from "../shared/owning.ts";

const modelOf = ({ url, patienceMs }: CountingServer, more: object = {}) =>
  new ChatOpenAI({
    model: "m",
    apiKey: "x",
    timeout: patienceMs,
    configuration: { baseURL: `${url}/v1`, maxRetries: 2 },
    ...more,
  });
const read = async (model: ChatOpenAI) => {
  let text = "";
  for await (const chunk of await model.stream("hi")) text += chunk.content;
  return text;
};

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it.each([1, 3])("at %d attempts as many requests arrive", async (attempts) => {
    const own = (server: CountingServer, more?: object) =>
      ownRetries(modelOf(server, more), openHoldfire(), { attempts });
    expect(await count(failure, (server) => own(server).invoke("hi"))).toBe(attempts);
    const asks = { maxRetries: 3 };
    expect(await count(failure, (server) => own(server).invoke("hi", asks))).toBe(attempts);
    expect(await count(failure, (server) => read(own(server)))).toBe(attempts);
    const responses = { useResponsesApi: true };
    expect(await count(failure, (server) => own(server, responses).invoke("hi"))).toBe(attempts);
    const streaming = { streaming: true };
    expect(await count(failure, (server) => own(server, streaming).invoke("hi"))).toBe(attempts);
  });

  it("what bindTools made before or makes later is owned with it", async () => {
    const before = async (server: CountingServer) => {
      const model = modelOf(server);
      const bound = model.bindTools([]);
      ownRetries(model, openHoldfire(), { attempts: 2 });
      return bound.invoke("hi");
    };
    expect(await count(failure, before)).toBe(2);
    const later = (server: CountingServer) =>
      ownRetries(modelOf(server), openHoldfire(), { attempts: 2 })
        .bindTools([])
        .invoke("hi", { maxRetries: 3 });
    expect(await count(failure, later)).toBe(2);
  });
});

it("an agent's model calls are owned", async () => {
  const call = (server: CountingServer) => {
    const model = ownRetries(modelOf(server), openHoldfire(), { attempts: 2 });
    return createAgent({ model, tools: [] }).invoke({
      messages: [{ role: "user", content: "hi" }],
    });
  };
  expect(await count("503", call)).toBe(2);
});

it("LangChain's own loops around it are told that it has been tried", async () => {
  const own = (server: CountingServer) =>
    ownRetries(modelOf(server), openHoldfire(), { attempts: 2 });
  const agent = (model: ChatOpenAI) => {
    const retries = modelRetryMiddleware({ initialDelayMs: 1, onFailure: "error" });
    // Its types do not fit its own agent under `exactOptionalPropertyTypes`.
    const middleware = [retries] as unknown as readonly [];
    return createAgent({ model, tools: [], middleware }).invoke({
      messages: [{ role: "user", content: "hi" }],
    });
  };
  expect(await count("503", (server) => agent(modelOf(server)))).toBe(9);
  expect(await count("503", (server) => agent(own(server)))).toBe(2);
  const framed = (server: CountingServer) => {
    const model = modelOf(server).bindTools([]).withRetry({ stopAfterAttempt: 3 });
    return ownRetries(model, openHoldfire(), { attempts: 2 }).invoke("hi");
  };
  expect(await count("503", framed)).toBe(2);
});

it("a model of initChatModel is owned with all that it makes, whatever it is asked for", async () => {
  const make = ({ url }: CountingServer) =>
    initChatModel("openai:m", { apiKey: "x", configuration: { baseURL: `${url}/v1` } } as object);
  type Made = Awaited<ReturnType<typeof make>>;
  const counted = (ask: (model: Made) => PromiseLike<unknown>) =>
    count("503", async (server) =>
      ask(ownRetries(await make(server), openHoldfire(), { attempts: 2 })),
    );
  const shape = { title: "Answer", type: "object", properties: { a: { type: "string" } } };
  const other = { configurable: { model: "n" } };
  expect(await counted((model) => model.invoke("hi"))).toBe(2);
  expect(await counted((model) => model.invoke("hi", other as never))).toBe(2);
  expect(await counted((model) => model.bindTools([]).invoke("hi"))).toBe(2);
  expect(await counted((model) => model.withConfig(other as never).invoke("hi"))).toBe(2);
  expect(await counted((model) => model.withStructuredOutput(shape).invoke("hi"))).toBe(2);
  expect(await counted((model) => read(model as never))).toBe(2);
});

it("without being owned it sends again, also when another model is owned", async () => {
  const call = (server: CountingServer) => {
    ownRetries(modelOf(server), openHoldfire());
    return modelOf(server, {
      configuration: { baseURL: `${server.url}/v1` },
      maxRetries: 1,
    }).invoke("hi");
  };
  expect(await count("503", call)).toBe(2);
});

it("the caller's own abort ends it", async () => {
  const caller = new AbortController();
  // It has arrived, and is never answered.
  const hang: Answer = () => caller.abort();
  const own = (server: CountingServer) =>
    ownRetries(modelOf(server, { timeout: 5_000 }), openHoldfire());
  const { signal } = caller;
  expect(await count(hang, (server) => own(server).invoke("hi", { signal }))).toBe(1);
});

it("calls that wait for their turn are counted where they belong", async () => {
  const hf = openHoldfire();
  const hidden = heard(hf, "warning", "hidden_retry");
  const samples = heard(hf, "sample");
  const server = await serve(chatAnswer("hello"));
  const model = ownRetries(modelOf(server, { maxConcurrency: 1 }), hf);
  await Promise.all(["a", "b", "c"].map((text) => model.invoke(text)));
  expect(samples.map(({ wireRequests }) => wireRequests)).toEqual([1, 1, 1]);
  expect(hidden).toEqual([]);
});

it("a call that comes through at last gives its answer, whole or in a stream", async () => {
  const hf = openHoldfire();
  const server = await serve(after(1, chatAnswer("hello")));
  const model = modelOf(server);
  expect(ownRetries(ownRetries(model, hf), hf)).toBe(model);
  expect((await model.invoke("hi")).content).toBe("hello");
  const streaming = await serve(after(2, chatStream(["hel", "lo"])));
  expect(await read(ownRetries(modelOf(streaming), hf))).toBe("hello");
  expect(streaming.arrivals).toHaveLength(3);
  const broken = await serve(chatStream(["hel"], "breaks"));
  await read(ownRetries(modelOf(broken), hf)).catch(() => {});
  expect(broken.arrivals).toHaveLength(1);
});
