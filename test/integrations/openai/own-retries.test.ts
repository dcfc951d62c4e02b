import OpenAI, { AzureOpenAI } from "openai";
import { ResponsesToolRunner } from "openai/helpers/responses-tool-runner";
import OpenAI6 from "openai-6";
import { beforeEach, describe, expect, test } from "vitest";
import { ClosedError, InvalidInputError } from "../../../src/errors.ts";
import { type OwnOptions, ownRetries } from "../../../src/integrations/openai/index.ts";
import { USAGE } from "../../servers/model-server.ts";
import { FAILURES, listen, openStage, type Stage } from "../shared/owned.ts";

type Make = (options: { readonly timeout?: number; readonly maxRetries?: number }) => OpenAI;

const QUESTION = { model: "gpt-test", input: "Hi" } as const;
const CHAT = { model: "gpt-test", messages: [{ role: "user" as const, content: "Hi" }] };

const CHAT_ASKED = { operation: "chat", provider: "openai", model: "gpt-test" };

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

const VERSIONS: readonly (readonly [string, () => Make])[] = [
  [
    "openai 7",
    () => (options) => new OpenAI({ baseURL: stage.server.openai, apiKey: "k", ...options }),
  ],
  [
    "openai 6",
    () => (options) =>
      new OpenAI6({
        baseURL: stage.server.openai,
        apiKey: "k",
        ...options,
      }) as unknown as OpenAI,
  ],
];

describe.each(VERSIONS)("%s", (_, makerOf) => {
  const make: Make = (options) => makerOf()(options);
  const owned = (options: OwnOptions = {}, timeout = 10_000): OpenAI =>
    ownRetries(make({ timeout }), stage.hf, options);

  describe.each(FAILURES)("after %s", (_, act, timeout) => {
    test.each([1, 3])("as many requests arrive as there are attempts: %i", async (attempts) => {
      stage.server.usually(act);
      await stage.fail(owned({ attempts }, timeout).responses.create(QUESTION));
      expect(stage.server.arrivals).toHaveLength(attempts);
    });

    test.each<[string, (client: OpenAI) => PromiseLike<unknown>]>([
      [
        "makes a batch",
        ({ batches }) =>
          batches.create({
            input_file_id: "file_1",
            endpoint: "/v1/responses",
            completion_window: "24h",
          }),
      ],
      [
        "stores a file",
        ({ files }) => files.create({ file: new File(["x"], "x.txt"), purpose: "batch" }),
      ],
      ["deletes one", ({ files }) => files.delete("file_1")],
      [
        "writes to a thread",
        (client) => client.post("/threads/t_1/messages", { body: { role: "user", content: "Hi" } }),
      ],
    ])("what is no model call is sent once, whatever `attempts` says: it %s", async (_, call) => {
      stage.server.usually(act);
      await stage.fail(Promise.resolve(call(owned({ attempts: 3 }, timeout))));
      expect(stage.server.arrivals).toHaveLength(1);
    });

    test("what is read is sent again", async () => {
      stage.server.usually(act);
      await stage.fail(Promise.resolve(owned({ attempts: 2 }, timeout).files.retrieve("file_1")));
      expect(stage.server.arrivals).toHaveLength(2);
    });

    test("a request's own maxRetries turns nothing on, and is told to nobody", async () => {
      stage.server.usually(act);
      const client = owned({ attempts: 2 }, timeout);
      await stage.fail(client.chat.completions.create(CHAT, { maxRetries: 3 }));
      await stage.fail(client.request({ method: "post", path: "/responses", body: QUESTION }, 3));
      expect(stage.server.arrivals).toHaveLength(4);
      const told = stage.server.arrivals.map(({ headers }) => headers["x-stainless-retry-count"]);
      expect(new Set(told)).toEqual(new Set(["0"]));
    });

    test("clones made before and after are owned, and so are their clones", async () => {
      stage.server.usually(act);
      const client = make({ timeout });
      const before = client.withOptions({ maxRetries: 4 });
      ownRetries(client, stage.hf, { attempts: 1 });
      const after = client.withOptions({ maxRetries: 4, apiKey: "another" });
      for (const clone of [before, after, before.withOptions({}), after.withOptions({})]) {
        await stage.fail(clone.responses.create(QUESTION));
      }
      expect(stage.server.arrivals).toHaveLength(4);
    });

    test("the error is the one that the SDK throws by itself", async () => {
      stage.server.usually(act);
      const plain = make({ timeout, maxRetries: 0 });
      const alone = (await stage.fail(plain.responses.create(QUESTION))) as Error;
      const through = (await stage.fail(
        owned({ attempts: 2 }, timeout).responses.create(QUESTION),
      )) as Error;
      const shown = ({ ...fields }: Error) => ({ ...fields, headers: undefined });
      expect(through.constructor).toBe(alone.constructor);
      expect(through.message).toBe(alone.message);
      expect(shown(through)).toEqual(shown(alone));
    });
  });

  test("a client that nobody owned keeps its own retries", async () => {
    owned();
    stage.server.usually({ act: "status", status: 503, headers: { "retry-after-ms": "1" } });
    await stage.fail(make({ maxRetries: 2 }).responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(3);
  });

  test("it answers as it did, retried or not", async () => {
    stage.server.script({ act: "status", status: 500 }, { act: "reset" });
    const response = await stage.pass(owned().responses.create(QUESTION));
    expect(response.output_text).toBe("answer 3");
    const raw = await stage.pass(owned().responses.create(QUESTION).withResponse());
    expect(raw.request_id).toBe("req_4");
    expect(raw.response.url).toBe(`${stage.server.openai}/responses`);
    expect(raw.data.output_text).toBe("answer 4");
  });

  test("one key goes with all attempts of a call, another with the next call", async () => {
    stage.server.script({ act: "status", status: 503 }, { act: "reset" });
    const client = owned();
    await stage.pass(client.responses.create(QUESTION));
    await stage.pass(client.responses.create(QUESTION));
    const keys = stage.server.arrivals.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test("a caller's own key wins, as a header or as the option that the SDK drops", async () => {
    stage.server.script({ act: "status", status: 503 });
    const client = owned();
    await stage.pass(client.responses.create(QUESTION, { headers: { "idempotency-key": "mine" } }));
    await stage.pass(client.responses.create(QUESTION, { idempotencyKey: "too" }));
    const keys = stage.server.arrivals.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(["mine", "mine", "too"]);
  });

  test("a read carries no key", async () => {
    await stage.pass(owned().responses.retrieve("resp_1"));
    expect(stage.server.arrivals[0]?.headers["idempotency-key"]).toBeUndefined();
  });

  test("x-should-retry decides over the status, both ways", async () => {
    const client = owned({ attempts: 3 });
    const say = (status: number, word: string) =>
      stage.server.usually({ act: "status", status, headers: { "x-should-retry": word } });
    say(503, "false");
    await stage.fail(client.responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(1);
    say(400, "true");
    await stage.fail(client.responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(4);
  });

  test("what the model rejects is not asked again", async () => {
    stage.server.usually({ act: "status", status: 400 });
    const error = await stage.fail(owned().responses.create(QUESTION));
    expect(error).toMatchObject({ status: 400 });
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test("a provider that says Retry-After 0 for ever is asked at a distance, and not for ever", async () => {
    const times: number[] = [];
    stage.server.onArrival(() => times.push(stage.clock.monotonic()));
    stage.server.usually({ act: "status", status: 429, headers: { "retry-after": "0" } });
    await stage.fail(owned({ attempts: 1_000 }).responses.create(QUESTION));
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(100);
    // One first attempt, the ten resends of a full budget, and one for each second until the deadline.
    expect(times).toHaveLength(1 + 10 + 59);
    expect(stage.clock.monotonic()).toBeLessThan(60_000);
  });

  test("a Retry-After is obeyed within the deadline", async () => {
    stage.server.usually({ act: "status", status: 429, headers: { "retry-after": "20" } });
    await stage.fail(owned({ attempts: 9, deadlineMs: 60_000 }).responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(3);
    expect(stage.clock.monotonic()).toBe(40_000);
  });

  test("a Retry-After of three thousand years ends the call at once", async () => {
    stage.server.usually({ act: "status", status: 429, headers: { "retry-after": "99999999999" } });
    await stage.fail(owned().responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(1);
    expect(stage.clock.monotonic()).toBe(0);
  });

  test("all callers share one budget of resends", async () => {
    stage.server.usually({ act: "status", status: 503 });
    const untimed = stage.another({ retry: { budget: { perSecond: 0 } } });
    const client = ownRetries(make({ timeout: 10_000 }), untimed, { attempts: 4 });
    for (let call = 0; call < 6; call += 1) await stage.fail(client.responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(6 + 10);
  });

  test("an abort ends the pause and the call", async () => {
    stage.server.usually({ act: "status", status: 503, headers: { "retry-after": "10" } });
    const stop = new AbortController();
    const client = owned();
    const call = client.responses.create(QUESTION, { signal: stop.signal });
    stage.hf.on("sample", () => setImmediate(() => stop.abort()));
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test("a stream comes through, and its usage is told", async () => {
    const heard = listen(stage.hf);
    stage.server.script({ act: "status", status: 503 });
    const stream = await stage.pass(
      owned().chat.completions.create({
        ...CHAT,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe("answer 2");
    const about = { client: "openai", step: "POST /chat/completions", attempt: 2 };
    expect(heard("usage")).toEqual([
      {
        ...about,
        ...CHAT_ASKED,
        inputTokens: USAGE.input,
        outputTokens: USAGE.output,
        partial: false,
      },
    ]);
  });

  test("a stream that breaks is the caller's, and is not asked for again", async () => {
    const heard = listen(stage.hf);
    stage.server.usually({ act: "break", afterEvents: 3 });
    const stream = await stage.pass(owned().responses.create({ ...QUESTION, stream: true }));
    const read = async () => {
      for await (const _ of stream) {
        // only the end matters
      }
    };
    await expect(read()).rejects.toThrow();
    expect(stage.server.arrivals).toHaveLength(1);
    const about = { client: "openai", step: "POST /responses", attempt: 1 };
    expect(heard("usage")).toEqual([{ ...about, ...CHAT_ASKED, partial: true }]);
  });

  test("a stream that the caller leaves is told as partial", async () => {
    const heard = listen(stage.hf);
    stage.server.usually({ act: "stall", afterEvents: 4 });
    const stream = await stage.pass(owned().responses.create({ ...QUESTION, stream: true }));
    for await (const _ of stream) break;
    expect(heard("usage")).toMatchObject([{ attempt: 1, partial: true }]);
  });

  test("the usage of an answer is told once, a lost attempt as partial", async () => {
    const heard = listen(stage.hf);
    stage.server.script({ act: "reset" });
    const client = owned();
    await stage.pass(client.chat.completions.create(CHAT));
    const about = { client: "openai", step: "POST /chat/completions" };
    expect(heard("usage")).toEqual([
      { ...about, ...CHAT_ASKED, attempt: 1, partial: true },
      {
        ...about,
        ...CHAT_ASKED,
        attempt: 2,
        partial: false,
        inputTokens: USAGE.input,
        outputTokens: USAGE.output,
      },
    ]);
    expect(heard("sample")).toMatchObject([
      { ...about, attempt: 1, wireRequests: 1, status: undefined },
      { ...about, attempt: 2, wireRequests: 1, status: 200 },
    ]);
  });

  test("the stream helper and runTools still work, turn by turn", async () => {
    const client = owned();
    stage.server.script(
      { act: "status", status: 503 },
      { act: "say", saying: { tool: "weather", args: { city: "Bern" } } },
      { act: "status", status: 503 },
      { act: "say", saying: { text: "Sunny." } },
    );
    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
      ...CHAT,
      tools: [
        {
          type: "function",
          function: {
            name: "weather",
            description: "The weather.",
            parameters: { type: "object", properties: {} },
            parse: JSON.parse,
            function: (args: object) => {
              asked.push(args);
              return "sunny";
            },
          },
        },
      ],
    });
    expect(await stage.pass(runner.finalContent())).toBe("Sunny.");
    expect(asked).toEqual([{ city: "Bern" }]);
    expect(stage.server.arrivals).toHaveLength(4);

    stage.server.script({ act: "reset" });
    const stream = client.responses.stream(QUESTION);
    const final = await stage.pass(stream.finalResponse());
    expect(final.output_text).toBe("answer 6");
  });

  test("a background answer is made once and read by its id", async () => {
    const heard = listen(stage.hf);
    stage.server.script({ act: "reset" }, { act: "say" }, { act: "reset" });
    const client = owned();
    const created = await stage.pass(client.responses.create({ ...QUESTION, background: true }));
    expect(created).toMatchObject({ id: "resp_2", status: "queued" });
    const first = await stage.pass(client.responses.retrieve(created.id));
    const last = await stage.pass(client.responses.retrieve(created.id));
    expect([first.status, last.status]).toEqual(["in_progress", "completed"]);
    const calls = stage.server.arrivals.map(({ method, path }) => `${method} ${path}`);
    expect(calls).toEqual([
      "POST /v1/responses",
      "POST /v1/responses",
      "GET /v1/responses/resp_2",
      "GET /v1/responses/resp_2",
      "GET /v1/responses/resp_2",
    ]);
    expect(heard("usage").filter(({ partial }) => !partial)).toMatchObject([
      { step: "GET /responses/resp_2", inputTokens: USAGE.input },
    ]);
  });

  test("owning again replaces the options, by another holdfire too", async () => {
    stage.server.usually({ act: "status", status: 503 });
    const client = owned({ attempts: 3 });
    const clone = client.withOptions({});
    ownRetries(client, stage.hf, { attempts: 1 });
    await stage.fail(clone.responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(1);

    const other = stage.another();
    const heard = listen(other);
    ownRetries(client, other, { attempts: 2 });
    await stage.fail(client.responses.create(QUESTION));
    expect(stage.server.arrivals).toHaveLength(3);
    expect(heard("sample")).toHaveLength(2);
  });

  test("the next page is another call, with its own key", async () => {
    const client = owned();
    stage.server.script(
      { act: "status", status: 200, body: { data: [{ id: "m1" }], has_more: true } },
      { act: "status", status: 200, body: { data: [], has_more: false } },
    );
    const page = await stage.pass(
      client.vectorStores.search("vs_1", { query: "q" }, { maxRetries: 1 }),
    );
    expect(page.data).toHaveLength(1);
    const options = (page as unknown as { options: Record<string, unknown> }).options;
    expect(options).toMatchObject({ maxRetries: 1 });
    expect(JSON.stringify(options)).not.toContain("Idempotency-Key");
  });

  test.each(["0", -1, 1.5, Number.NaN])("a maxRetries of %j is an error", async (maxRetries) => {
    const wrong = { maxRetries } as { maxRetries: number };
    expect(() => ownRetries(make(wrong), stage.hf)).toThrow(InvalidInputError);
    const error = await stage.fail(owned().responses.create(QUESTION, wrong));
    expect(error).toMatchObject({ code: "ERR_HOLDFIRE_INVALID_INPUT" });
    expect(stage.server.arrivals).toHaveLength(0);
  });
});

test("the runner of tools over responses works turn by turn, also when it says maxRetries itself", async () => {
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  ownRetries(client, stage.hf);
  stage.server.script(
    { act: "status", status: 503 },
    { act: "say", saying: { tool: "weather", args: { city: "Bern" } } },
    { act: "reset" },
    { act: "say", saying: { text: "Sunny." } },
  );
  const asked: unknown[] = [];
  const runner = new ResponsesToolRunner({
    functions: [
      {
        tool: {
          type: "function",
          name: "weather",
          strict: false,
          parameters: { type: "object", properties: {} },
        },
        execute: (args) => {
          asked.push(args);
          return "sunny";
        },
      },
    ],
  });
  const ledger = { runId: "run-1", save: () => {} };
  const last = await stage.pass(runner.run(client, QUESTION, { ledger }));
  expect(last.output_text).toBe("Sunny.");
  expect(asked).toEqual([{ city: "Bern" }]);
  expect(stage.server.arrivals).toHaveLength(4);
});

test("a polling helper goes on after a read that failed", async () => {
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  ownRetries(client, stage.hf);
  const file = { id: "file-1", object: "vector_store.file", vector_store_id: "vs_1" };
  stage.server.script(
    { act: "status", status: 200, body: { ...file, status: "in_progress" } },
    { act: "status", status: 503 },
    { act: "status", status: 200, body: { ...file, status: "completed" } },
  );
  const polled = client.vectorStores.files.poll("vs_1", "file-1", { pollIntervalMs: 1 });
  expect(await stage.pass(polled)).toMatchObject({ status: "completed" });
  expect(stage.server.arrivals).toHaveLength(3);
});

test("a clone of another account made before is not taken for one's own", async () => {
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  const other = client.withOptions({ apiKey: "another", maxRetries: 1 });
  ownRetries(client, stage.hf, { attempts: 1 });
  stage.server.usually({ act: "status", status: 503, headers: { "retry-after-ms": "1" } });
  await stage.fail(other.responses.create(QUESTION));
  expect(stage.server.arrivals).toHaveLength(2);
});

test("Azure is owned as well", async () => {
  const client = new AzureOpenAI({
    endpoint: stage.server.origin,
    apiKey: "k",
    apiVersion: "2025-01-01",
  });
  const before = client.withOptions({ maxRetries: 4 });
  ownRetries(client, stage.hf, { attempts: 2 });
  stage.server.usually({ act: "status", status: 503 });
  await stage.fail(client.chat.completions.create(CHAT));
  await stage.fail(before.chat.completions.create(CHAT));
  expect(stage.server.arrivals).toHaveLength(4);
});

test("a closed holdfire owns nothing, and sends nothing", async () => {
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  ownRetries(client, stage.hf);
  await stage.hf.close();
  expect(await stage.fail(client.responses.create(QUESTION))).toBeInstanceOf(ClosedError);
  expect(() => ownRetries(client, stage.hf)).toThrow(ClosedError);
  expect(stage.server.arrivals).toHaveLength(0);
});

test("a client of another kind is refused with the list of those known", () => {
  for (const wrong of [{}, { chat: {}, responses: {} }, null]) {
    expect(() => ownRetries(wrong as unknown as OpenAI, stage.hf)).toThrow(
      /is not an OpenAI client.*holdfire\/openai.*holdfire\/anthropic.*holdfire\/stripe/,
    );
  }
});

test("a misspelt or senseless option is an error", () => {
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  const wrong: readonly object[] = [
    { attempt: 3 },
    { attempts: 0 },
    { attempts: "3" },
    { deadlineMs: -1 },
    { record: "yes" },
    { step: "one" },
    { scope: "" },
  ];
  for (const options of wrong) {
    expect(() => ownRetries(client, stage.hf, options as OwnOptions)).toThrow(InvalidInputError);
  }
});
