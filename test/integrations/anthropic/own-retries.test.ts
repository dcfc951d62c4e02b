import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ClosedError, InvalidInputError } from "../../../src/errors.ts";
import { ownRetries } from "../../../src/integrations/anthropic/index.ts";
import type { OwnOptions } from "../../../src/integrations/shared/stainless/own-options.ts";
import { USAGE } from "../../servers/model-server.ts";
import { FAILURES, listen, openStage, type Stage } from "../shared/owned.ts";

const QUESTION = {
  model: "claude-test",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hi" }],
};
const ABOUT = { client: "anthropic", step: "POST /v1/messages" };
const ASKED = { operation: "chat", provider: "anthropic", model: expect.any(String) };

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

const make = (options: ConstructorParameters<typeof Anthropic>[0] = {}): Anthropic =>
  new Anthropic({ baseURL: stage.server.anthropic, apiKey: "k", ...options });

const owned = (options: OwnOptions = {}, timeout = 10_000): Anthropic =>
  ownRetries(make({ timeout }), stage.hf, options);

const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

describe.each(FAILURES)("after %s", (_, act, timeout) => {
  test.each([1, 3])("as many requests arrive as there are attempts: %i", async (attempts) => {
    stage.server.usually(act);
    await stage.fail(owned({ attempts }, timeout).messages.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(attempts);
  });

  test("what is no model call is sent once, whatever `attempts` says", async () => {
    stage.server.usually(act);
    const { messages } = owned({ attempts: 3 }, timeout);
    await stage.fail(messages.batches.create({ requests: [{ custom_id: "a", params: QUESTION }] }));
    expect(stage.server.arrivals).toHaveLength(1);
    await stage.fail(messages.countTokens({ model: QUESTION.model, messages: QUESTION.messages }));
    expect(stage.server.arrivals).toHaveLength(4);
  });

  test("a request's own maxRetries turns nothing on", async () => {
    stage.server.usually(act);
    const client = owned({ attempts: 2 }, timeout);
    await stage.fail(client.messages.create(QUESTION, { maxRetries: 3 }));
    await stage.fail(client.request({ method: "post", path: "/v1/messages", body: QUESTION }, 3));
    expect(stage.server.arrivals).toHaveLength(4);
  });

  test("clones made before and after are owned, and so are their clones", async () => {
    stage.server.usually(act);
    const client = make({ timeout });
    const before = client.withOptions({ maxRetries: 4 });
    ownRetries(client, stage.hf, { attempts: 1 });
    const after = client.withOptions({ maxRetries: 4, apiKey: "another" });
    for (const clone of [before, after, before.withOptions({}), after.withOptions({})]) {
      await stage.fail(clone.messages.create(QUESTION));
    }
    expect(stage.server.arrivals).toHaveLength(4);
  });

  test("the error is the one that the SDK throws by itself", async () => {
    stage.server.usually(act);
    const plain = make({ timeout, maxRetries: 0 });
    const alone = (await stage.fail(plain.messages.create(QUESTION))) as Error;
    const through = (await stage.fail(
      owned({ attempts: 2 }, timeout).messages.create(QUESTION),
    )) as Error;
    const shown = ({ ...fields }: Error) => ({ ...fields, headers: undefined });
    expect(through.constructor).toBe(alone.constructor);
    expect(through.message).toBe(alone.message);
    expect(shown(through)).toEqual(shown(alone));
  });

  test("a client with a middleware of its own is owned as well, and the middleware sees each attempt", async () => {
    stage.server.usually(act);
    const seen: string[] = [];
    const client = make({
      timeout,
      middleware: [
        (request, next) => {
          seen.push(request.url);
          return next(request);
        },
      ],
    });
    ownRetries(client, stage.hf, { attempts: 2 });
    await stage.fail(client.messages.create(QUESTION, { maxRetries: 3 }));
    expect(stage.server.arrivals).toHaveLength(2);
    expect(seen).toHaveLength(2);
  });
});

test("a client that nobody owned keeps its own retries", async () => {
  owned();
  stage.server.usually({ act: "status", status: 503, headers: { "retry-after-ms": "1" } });
  await stage.fail(make({ maxRetries: 2 }).messages.create(QUESTION));
  expect(stage.server.arrivals).toHaveLength(3);
});

test("it answers as it did, and tells what each attempt cost", async () => {
  const heard = listen(stage.hf);
  stage.server.script({ act: "status", status: 529 }, { act: "reset" });
  const { data, request_id } = await stage.pass(owned().messages.create(QUESTION).withResponse());
  expect(textOf(data)).toBe("answer 3");
  expect(request_id).toBe("req_3");
  expect(heard("usage")).toEqual([
    { ...ABOUT, ...ASKED, attempt: 2, partial: true },
    {
      ...ABOUT,
      ...ASKED,
      attempt: 3,
      partial: false,
      inputTokens: USAGE.input,
      outputTokens: USAGE.output,
    },
  ]);
  expect(heard("sample").map(({ status }) => status)).toEqual([529, undefined, 200]);
});

test("one key goes with all attempts of a call; a caller's own wins", async () => {
  stage.server.script({ act: "status", status: 503 }, { act: "reset" });
  const client = owned();
  await stage.pass(client.messages.create(QUESTION));
  await stage.pass(client.messages.create(QUESTION, { headers: { "Idempotency-Key": "mine" } }));
  const keys = stage.server.arrivals.map(({ headers }) => headers["idempotency-key"]);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys[3]).toBe("mine");
});

test("x-should-retry decides over the status, both ways", async () => {
  const client = owned({ attempts: 3 });
  const say = (status: number, word: string) =>
    stage.server.usually({ act: "status", status, headers: { "x-should-retry": word } });
  say(503, "false");
  await stage.fail(client.messages.create(QUESTION));
  expect(stage.server.arrivals).toHaveLength(1);
  say(400, "true");
  await stage.fail(client.messages.create(QUESTION));
  expect(stage.server.arrivals).toHaveLength(4);
});

test.each([
  ["20", 3, 40_000],
  ["99999999999", 1, 0],
])("a Retry-After of %s is obeyed within the deadline", async (after, requests, waited) => {
  stage.server.usually({ act: "status", status: 429, headers: { "retry-after": after } });
  await stage.fail(owned({ attempts: 9, deadlineMs: 60_000 }).messages.create(QUESTION));
  expect(stage.server.arrivals).toHaveLength(requests);
  expect(stage.clock.monotonic()).toBe(waited);
});

test("a stream comes through the helper after a retry, and its usage is told", async () => {
  const heard = listen(stage.hf);
  stage.server.script({ act: "status", status: 503 });
  const stream = owned().messages.stream(QUESTION);
  expect(await stage.pass(stream.finalText())).toBe("answer 2");
  expect(heard("usage")).toEqual([
    {
      ...ABOUT,
      ...ASKED,
      attempt: 2,
      partial: false,
      inputTokens: USAGE.input,
      outputTokens: USAGE.output,
    },
  ]);
});

test("a stream that breaks is the caller's: it is not asked for again, and told as far as it came", async () => {
  const heard = listen(stage.hf);
  stage.server.usually({ act: "break", afterEvents: 4 });
  const stream = await stage.pass(owned().messages.create({ ...QUESTION, stream: true }));
  const read = async () => {
    for await (const _ of stream) {
      // only the end matters
    }
  };
  await expect(read()).rejects.toThrow();
  expect(stage.server.arrivals).toHaveLength(1);
  expect(heard("usage")).toEqual([
    { ...ABOUT, ...ASKED, attempt: 1, partial: true, inputTokens: USAGE.input, outputTokens: 1 },
  ]);
});

test("a stream that the caller leaves is told as partial", async () => {
  const heard = listen(stage.hf);
  stage.server.usually({ act: "stall", afterEvents: 4 });
  const stream = await stage.pass(owned().messages.create({ ...QUESTION, stream: true }));
  for await (const _ of stream) break;
  expect(heard("usage")).toMatchObject([{ attempt: 1, partial: true, inputTokens: USAGE.input }]);
});

test.each([false, true])("the tool runner works turn by turn (stream: %s)", async (stream) => {
  stage.server.script(
    { act: "status", status: 503 },
    { act: "say", saying: { tool: "weather", args: { city: "Bern" } } },
    { act: "reset" },
    { act: "say", saying: { text: "Sunny." } },
  );
  const asked: unknown[] = [];
  const weather = betaZodTool({
    name: "weather",
    description: "The weather.",
    inputSchema: z.object({ city: z.string() }),
    run: (args) => {
      asked.push(args);
      return "sunny";
    },
  });
  const runner = owned().beta.messages.toolRunner({ ...QUESTION, stream, tools: [weather] });
  const last = await stage.pass(runner.runUntilDone());
  expect(last.content).toMatchObject([{ type: "text", text: "Sunny." }]);
  expect(asked).toEqual([{ city: "Bern" }]);
  expect(stage.server.arrivals).toHaveLength(4);
});

test("a token that was refused is renewed once, in an attempt of its own", async () => {
  stage.server.usually({ act: "status", status: 401 });
  stage.server.script({ act: "status", status: 401 }, { act: "say" });
  let tokens = 0;
  const client = make({
    apiKey: null,
    credentials: async () => {
      tokens += 1;
      return { token: `token-${tokens}`, expiresAt: null };
    },
  });
  ownRetries(client, stage.hf, { attempts: 4 });
  expect(textOf(await stage.pass(client.messages.create(QUESTION)))).toBe("answer 2");
  const used = stage.server.arrivals.map(({ headers }) => headers.authorization);
  expect(used).toEqual(["Bearer token-1", "Bearer token-2"]);

  expect(await stage.fail(client.messages.create(QUESTION))).toMatchObject({ status: 401 });
  expect(stage.server.arrivals).toHaveLength(4);
});

test("an upload that can be read once is sent once", async () => {
  stage.server.usually({ act: "status", status: 503 });
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("{}"));
      controller.close();
    },
  });
  expect(await stage.fail(owned().post("/v1/files", { body }))).toMatchObject({ status: 503 });
  expect(stage.server.arrivals).toHaveLength(1);
});

test("a closed holdfire sends nothing", async () => {
  const client = owned();
  await stage.hf.close();
  expect(await stage.fail(client.messages.create(QUESTION))).toBeInstanceOf(ClosedError);
  expect(() => ownRetries(client, stage.hf)).toThrow(ClosedError);
  expect(stage.server.arrivals).toHaveLength(0);
});

test("a client of another kind is refused with the list of those known", () => {
  for (const wrong of [{}, { messages: {} }, null]) {
    expect(() => ownRetries(wrong as unknown as Anthropic, stage.hf)).toThrow(
      /is not an Anthropic client.*holdfire\/openai.*holdfire\/anthropic.*holdfire\/stripe/,
    );
  }
});

test("a maxRetries that is no count is an error before anything is sent", async () => {
  const wrong = { maxRetries: "0" as unknown as number };
  const error = await stage.fail(owned().messages.create(QUESTION, wrong));
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(stage.server.arrivals).toHaveLength(0);
});
