import { GoogleGenAI } from "@google/genai";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/genai/index.ts";
import { type Answer, type CountingServer, FAILURES, json } from "../../servers/counting-server.ts";
import { count, heard, openHoldfire, serve } from "../shared/owning.ts";

const clientOf = ({ url, patienceMs }: CountingServer, more: object = {}) =>
  new GoogleGenAI({
    apiKey: "x",
    httpOptions: { baseUrl: url, timeout: patienceMs, ...more },
  });
const generate = (client: GoogleGenAI, config: object = {}) =>
  client.models.generateContent({ model: "m", contents: "hi", config });
const read = async (client: GoogleGenAI) => {
  let text = "";
  const stream = await client.models.generateContentStream({ model: "m", contents: "hi" });
  for await (const chunk of stream) text += chunk.text;
  return text;
};
const interact = (client: GoogleGenAI, more?: object) =>
  client.interactions.create({ model: "m", input: "hi" } as never, more as never);

const asks = { attempts: 3, initialDelay: 0.001 };

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it.each([1, 3])("at %d attempts as many requests arrive", async (attempts) => {
    const own = (server: CountingServer, more?: object) =>
      ownRetries(clientOf(server, more), openHoldfire(), { attempts });
    expect(await count(failure, (server) => generate(own(server)))).toBe(attempts);
    expect(await count(failure, (server) => read(own(server)))).toBe(attempts);
    const config = { httpOptions: { retryOptions: asks } };
    expect(await count(failure, (server) => generate(own(server), config))).toBe(attempts);
    const always = { retryOptions: asks };
    expect(await count(failure, (server) => generate(own(server, always)))).toBe(attempts);
    expect(await count(failure, (server) => interact(own(server)))).toBe(attempts);
    const retries = {
      strategy: "attempt-count-backoff",
      maxRetries: 3,
      retryConnectionErrors: true,
    };
    expect(await count(failure, (server) => interact(own(server), { retries }))).toBe(attempts);
  });

  it.each<[string, (client: GoogleGenAI) => PromiseLike<unknown>]>([
    [
      "makes a batch",
      ({ batches }) => batches.create({ model: "m", src: [{ contents: [{ parts: [] }] }] }),
    ],
    ["makes a cache", ({ caches }) => caches.create({ model: "m", config: { ttl: "60s" } })],
    ["deletes a file", ({ files }) => files.delete({ name: "files/f_1" })],
    ["makes a video", ({ models }) => models.generateVideos({ model: "veo", prompt: "hi" })],
    [
      "makes a batch of embeddings",
      ({ batches }) =>
        batches.createEmbeddings({ model: "m", src: { inlinedRequests: { contents: [] } } }),
    ],
    ["makes an agent", (client) => client.agents.create({ id: "a", model: "m" } as never)],
  ])("what is no model call is sent once, whatever `attempts` says: it %s", async (_, call) => {
    const own = (server: CountingServer) =>
      ownRetries(clientOf(server), openHoldfire(), { attempts: 3 });
    expect(await count(failure, (server) => call(own(server)))).toBe(1);
  });

  it.each<[string, (client: GoogleGenAI) => PromiseLike<unknown>]>([
    [
      "a tuned model",
      ({ models }) => models.generateContent({ model: "tunedModels/t-1", contents: "hi" }),
    ],
    ["for the count of tokens", ({ models }) => models.countTokens({ model: "m", contents: "hi" })],
    ["for embeddings", ({ models }) => models.embedContent({ model: "m", contents: "hi" })],
  ])("what asks is sent as often as `attempts` says: %s", async (_, call) => {
    const own = (server: CountingServer) =>
      ownRetries(clientOf(server), openHoldfire(), { attempts: 3 });
    expect(await count(failure, (server) => call(own(server)))).toBe(3);
  });

  it.each<[string, (client: GoogleGenAI) => PromiseLike<unknown>]>([
    [
      "an endpoint of one's own",
      ({ models }) =>
        models.generateContent({
          model: "projects/p/locations/l/endpoints/123",
          contents: "hi",
        }),
    ],
    ["for an image", ({ models }) => models.generateImages({ model: "imagen", prompt: "hi" })],
  ])("so is on Vertex AI what asks %s", async (_, call) => {
    const own = ({ url, patienceMs }: CountingServer) => {
      const httpOptions = { baseUrl: url, timeout: patienceMs };
      const client = new GoogleGenAI({ vertexai: true, apiKey: "x", httpOptions });
      return ownRetries(client, openHoldfire(), { attempts: 3 });
    };
    expect(await count(failure, (server) => call(own(server)))).toBe(3);
  });

  it("a part that was taken from the client before is owned with it", async () => {
    const call = (server: CountingServer) => {
      const client = clientOf(server);
      const { interactions } = client;
      ownRetries(client, openHoldfire(), { attempts: 2 });
      return interactions.create({ model: "m", input: "hi" } as never);
    };
    expect(await count(failure, call)).toBe(2);
  });
});

it("without being owned its interactions are sent again", async () => {
  expect(await count("503", (server) => interact(clientOf(server)))).toBe(5);
});

it("the caller's abort ends it", async () => {
  const caller = new AbortController();
  // It has arrived, and is never answered.
  const hang: Answer = () => caller.abort();
  const server = await serve(hang);
  const client = ownRetries(clientOf(server, { timeout: 5_000 }), openHoldfire());
  await expect(generate(client, { abortSignal: caller.signal })).rejects.toThrow();
  expect(server.arrivals).toHaveLength(1);
});

it("the errors are its own", async () => {
  const client = ownRetries(clientOf(await serve("503")), openHoldfire(), { attempts: 1 });
  await expect(generate(client)).rejects.toMatchObject({ status: 503 });
  await expect(interact(client)).rejects.toMatchObject({ status: 503 });
});

it("a call that comes through at last gives its answer, and each attempt is told", async () => {
  const hf = openHoldfire();
  const samples = heard(hf, "sample");
  const answer = json({ candidates: [{ content: { role: "model", parts: [{ text: "hello" }] } }] });
  const once: Answer = (response, arrival, nth) =>
    nth === 1 ? response.writeHead(503).end("{}") : answer(response, arrival, nth);
  const client = clientOf(await serve(once));
  expect(ownRetries(ownRetries(client, hf), hf)).toBe(client);
  expect((await generate(client)).text).toBe("hello");
  expect(samples).toMatchObject([
    { client: "genai", attempt: 1, status: 503, wireRequests: 1 },
    { attempt: 2, wireRequests: 1 },
  ]);
});
