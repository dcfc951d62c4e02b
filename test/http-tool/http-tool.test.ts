import { describe, expect, expectTypeOf, test } from "vitest";
import { httpTool, typed } from "../../src/index.ts";
import { type FakeAnswer, type FakeRequest, startFake } from "../recipes/fake-service.ts";
import { openStage } from "../recipes/stage.ts";
import { closedPort } from "../wire/servers.ts";

interface Refund {
  readonly id: string;
  readonly reference: string;
  readonly status: string;
}

interface Manner {
  /** How a list is answered. */
  readonly list?: (found: readonly Refund[]) => FakeAnswer;
  /** Whether a repeated key gets the first answer. */
  readonly keyed?: boolean;
  /** The status of what is made. */
  readonly status?: string;
}

/** A bank that keeps refunds, and finds them by their reference. */
async function openBank({ list = (body) => ({ body }), keyed, status = "paid" }: Manner = {}) {
  const kept: Refund[] = [];
  const fake = await startFake(({ method, query, headers }: FakeRequest) => {
    if (method === "GET") {
      return list(kept.filter(({ reference }) => reference === query.get("reference")));
    }
    const reference = `${headers["idempotency-key"]}`;
    const known = keyed && kept.find((one) => one.reference === reference);
    if (known) return { body: known };
    const made = { id: `re_${kept.length + 1}`, reference, status };
    kept.push(made);
    return { status: 201, body: made };
  });
  const options = {
    name: "refund_payment",
    input: typed<{ paymentId: string; cents: number }>(),
    url: `${fake.url}/payments/{paymentId}/refunds`,
    headers: () => ({ authorization: "Bearer secret" }),
    key: "Idempotency-Key",
    find: `${fake.url}/refunds?reference={key}`,
    result: (body: unknown) => body as Refund,
  };
  return { fake, kept, options };
}

const ARGS = { paymentId: "pay/1", cents: 400 };

describe("a request", () => {
  test("has the arguments in its address and its body, and the key and the token in its headers", async () => {
    const stage = openStage();
    const { fake, options } = await openBank();
    const outcome = await stage.call(stage.tool(httpTool(options)), ARGS);
    expect(outcome).toMatchObject({ status: "committed", result: { id: "re_1", status: "paid" } });
    const [request] = fake.writes;
    expect(request).toMatchObject({ path: "/payments/pay%2F1/refunds", json: { cents: 400 } });
    expect(request?.headers).toMatchObject({
      authorization: "Bearer secret",
      "idempotency-key": outcome.key,
      "content-type": "application/json; charset=utf-8",
    });
  });

  test("has the body it is given: a form, with the key where the service wants it", async () => {
    const stage = openStage();
    const { fake, options } = await openBank();
    const { key: _, ...rest } = options;
    const tool = httpTool({
      ...rest,
      body: ({ cents }, { key }) => new URLSearchParams({ cents: `${cents}`, request_id: key }),
    });
    const { key } = await stage.call(stage.tool(tool), ARGS);
    expect(fake.writes[0]?.text).toBe(`cents=400&request_id=${key}`);
    expect(fake.writes[0]?.headers["content-type"]).toContain("application/x-www-form-urlencoded");
  });

  test("has the key in its address, in the form that the service takes, and is found by it", async () => {
    const stage = openStage();
    const kept = new Map<string, object>();
    const fake = await startFake(({ method, path, json }) => {
      if (method !== "GET") kept.set(path, { id: path.slice("/events/".length), ...json });
      return { body: kept.get(path) };
    });
    fake.lose("after");
    const url = `${fake.url}/events/{key}`;
    const keyForm = (key: string) => key.replaceAll("-", "");
    const input = typed<{ title: string }>();
    const tool = httpTool({ name: "event", input, method: "PUT", url, find: url, keyForm });
    const outcome = await stage.call(stage.tool(tool), { title: "Review" });
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect([...kept.keys()]).toEqual([`/events/${keyForm(outcome.key)}`]);
    expect(fake.writes[0]?.json).toEqual({ title: "Review" });
  });

  test.each<[string, () => unknown]>([
    ["a form with files", () => new FormData()],
    ["bytes", () => new Uint8Array(2)],
    ["a Blob", () => new Blob(["x"])],
    ["a stream", () => new Blob(["x"]).stream()],
    ["a Map inside of JSON", () => ({ of: [new Map([["a", 1]])] })],
  ])("is not sent with a body that JSON would lose: %s", async (_, body) => {
    const stage = openStage();
    const { fake, options } = await openBank();
    const { find: _find, ...rest } = options;
    const outcome = await stage.call(stage.tool(httpTool({ ...rest, body })), ARGS);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 1 });
    expect(fake.writes).toHaveLength(0);
  });

  test("has the same bytes, in whatever order its arguments came", async () => {
    const { fake, options } = await openBank();
    const amounts = [
      { currency: "EUR", cents: 4 },
      { cents: 4, currency: "EUR" },
    ];
    const input = typed<{ paymentId: string; amount: object }>();
    for (const amount of amounts) {
      const stage = openStage();
      await stage.call(stage.tool(httpTool({ ...options, input })), { amount, paymentId: "p1" });
    }
    expect(new Set(fake.writes.map(({ text }) => text)).size).toBe(1);
  });

  test.each<[string, object | (() => object)]>([
    ["headers", { authorization: "Bearer secret" }],
    ["a function that gives them", async () => ({ authorization: "Bearer secret" })],
  ])(
    "has the body that was made for it, with %s, also where that object is used again",
    async (_, headers) => {
      const stage = openStage();
      const { fake, options } = await openBank();
      const template = { from: "me", to: "" };
      const mail = stage.tool(
        httpTool({
          name: "mail",
          input: typed<{ to: string }>(),
          url: `${fake.url}/mails`,
          headers: headers as typeof options.headers,
          body: ({ to }) => Object.assign(template, { to }),
        }),
      );
      await Promise.all(["ana", "bob", "eve"].map((to) => mail({ to }, { scope: "request-1" })));
      expect(fake.writes.map(({ json }) => json?.to).sort()).toEqual(["ana", "bob", "eve"]);
    },
  );

  test("that cannot be made is refused before anything is recorded", async () => {
    const stage = openStage();
    const { fake, options } = await openBank();
    const tool = stage.tool(httpTool(options));
    await expect(stage.call(tool, { ...ARGS, paymentId: ".." })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
    });
    expect(fake.writes).toEqual([]);
    expect((await stage.hf.operations.list()).items).toEqual([]);
  });

  test("leaves no header in the ledger", async () => {
    const stage = openStage();
    const { options } = await openBank();
    const { key } = await stage.call(stage.tool(httpTool(options)), ARGS);
    expect(JSON.stringify(await stage.hf.operations.list())).toContain(key);
    expect(JSON.stringify(await stage.hf.operations.list())).not.toContain("secret");
  });

  test("by GET is a read, and has no body", async () => {
    const stage = openStage();
    const { fake, options } = await openBank();
    const tool = httpTool({
      name: "list_refunds",
      input: typed<{ reference: string }>(),
      method: "GET",
      url: `${fake.url}/refunds?reference={reference}`,
      headers: options.headers,
    });
    expect(tool.kind).toBe("read");
    expect(await stage.call(stage.tool(tool), { reference: "x" })).toMatchObject({
      status: "committed",
      result: [],
    });
    expect(fake.reads[0]?.text).toBe("");
  });
});

describe("a lost reply", () => {
  test("is found by the key: one request, one refund", async () => {
    const stage = openStage();
    const { fake, kept, options } = await openBank();
    fake.lose("after");
    const outcome = await stage.call(stage.tool(httpTool(options)), ARGS);
    expect(outcome).toMatchObject({ status: "committed", result: { id: "re_1" } });
    expect([fake.writes.length, kept.length]).toEqual([1, 1]);
    expect(fake.reads[0]?.headers.authorization).toBe("Bearer secret");
  });

  test("of a keyed service is sent again under the key", async () => {
    const stage = openStage();
    const { fake, kept, options } = await openBank({ keyed: true });
    fake.lose("after");
    const key = { header: "Idempotency-Key", forMs: 3_600_000 };
    const { find: _, ...blind } = options;
    const outcome = await stage.call(stage.tool(httpTool({ ...blind, key })), ARGS);
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect([fake.writes.length, kept.length]).toEqual([2, 1]);
  });

  test("without a window, and without a look, stays unknown: the header alone licenses nothing", async () => {
    const stage = openStage();
    const { fake, options } = await openBank({ keyed: true });
    fake.lose("after");
    const { find: _, ...blind } = options;
    const outcome = await stage.call(stage.tool(httpTool(blind)), ARGS);
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(fake.writes.length).toBe(1);
  });

  test("of a connection that was refused is sent again: it is via http", async () => {
    const stage = openStage();
    const { kept, options } = await openBank();
    const closed = await closedPort();
    let tries = 0;
    const fetch: typeof globalThis.fetch = (input, init) => {
      tries += 1;
      const url = new URL(`${input}`);
      if (tries === 1) url.port = `${closed}`;
      return globalThis.fetch(url, init);
    };
    const outcome = await stage.call(stage.tool(httpTool({ ...options, fetch })), ARGS);
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "not_sent" });
    expect(kept.length).toBe(1);
  });
});

describe("the look", () => {
  const readingsOf = async (manner: Manner, find?: object) => {
    const stage = openStage();
    const { fake, options } = await openBank(manner);
    fake.lose("after");
    const { url } = { url: options.find };
    const tool = httpTool({ ...options, find: find ? { url, ...find } : url });
    const outcome = await stage.call(stage.tool(tool), ARGS);
    return { outcome, reading: stage.readings[0]?.reading };
  };

  test.each<[string, Manner["list"], object | undefined, string]>([
    ["one in a list", undefined, undefined, "committed"],
    ["the thing itself", ([one]) => ({ body: one }), undefined, "committed"],
    ["one in a list that is named", (data) => ({ body: { data } }), { list: "data" }, "committed"],
    ["two of them", ([one]) => ({ body: [one, { ...one, id: "re_2" }] }), undefined, "duplicated"],
    ["an empty list", () => ({ body: [] }), undefined, "absent"],
    ["404", () => ({ status: 404, body: { message: "no such refund" } }), undefined, "absent"],
    ["a list that is not named", (data) => ({ body: { data } }), undefined, "cannot_tell"],
    ["an empty list that is not named", () => ({ body: { data: [] } }), undefined, "cannot_tell"],
    [
      "a list that is not named, beside the filter",
      ([one]) => ({ body: { query: { filter: one?.reference }, page: { items: [] } } }),
      undefined,
      "cannot_tell",
    ],
    [
      "the thing itself, with words in a list",
      ([one]) => ({ body: { ...one, tags: ["a"] } }),
      undefined,
      "committed",
    ],
    [
      "the thing itself, in another",
      ([one]) => ({ body: { data: { id: one?.id, metadata: { ref: one?.reference } } } }),
      undefined,
      "committed",
    ],
    [
      "the key given back, with a no",
      ([one]) => ({ body: { reference: one?.reference, found: false } }),
      undefined,
      "cannot_tell",
    ],
    [
      "the key given back, with a no in words",
      ([one]) => ({ body: { reference: one?.reference, status: "none", message: "no refund" } }),
      undefined,
      "cannot_tell",
    ],
    [
      "the question given back, with nothing",
      ([one]) => ({
        body: { query: { reference: one?.reference, paymentId: ARGS.paymentId }, id: null },
      }),
      undefined,
      "cannot_tell",
    ],
    [
      "the key given back, beside another thing",
      ([one]) => ({
        body: { query: { key: one?.reference }, account: { id: "a_1" }, refund: null },
      }),
      undefined,
      "cannot_tell",
    ],
    [
      "the key given back as an id",
      ([one]) => ({ body: { id: one?.reference, exists: false } }),
      undefined,
      "cannot_tell",
    ],
    [
      "the key given back, where `isMine` decides",
      ([one]) => ({ body: { reference: one?.reference, state: "paid" } }),
      { isMine: (found: { state?: string }) => found.state === "paid" },
      "committed",
    ],
    ["another thing", () => ({ body: { id: "re_9" } }), undefined, "cannot_tell"],
    ["a list of others", () => ({ body: [{ id: "re_9" }] }), undefined, "cannot_tell"],
    ["no list where one is named", () => ({ body: [] }), { list: "data" }, "cannot_tell"],
    ["no JSON", () => ({ body: "<html>" }), undefined, "cannot_tell"],
    ["403", () => ({ status: 403, body: {} }), undefined, "cannot_tell"],
    ["503", () => ({ status: 503 }), undefined, "cannot_tell"],
  ])("%s", async (_, list, find, reading) => {
    const read = await readingsOf(list ? { list } : {}, find);
    expect(read.reading?.reading ?? "cannot_tell").toBe(reading);
    const isThere = reading === "committed" || reading === "duplicated";
    expect(read.outcome.status).toBe(isThere ? "committed" : "unknown");
  });

  test.each<[string, object, string]>([
    ["has it", { refund: "re_1" }, "committed"],
    ["has none", { id: "request-7" }, "cannot_tell"],
  ])("a thing is judged by the id that `effect.id` reads: it %s", async (_, fields, reading) => {
    const stage = openStage();
    const { fake, options } = await openBank({
      list: ([one]) => ({ body: { reference: one?.reference, ...fields } }),
    });
    fake.lose("after");
    const effect = { id: (made: Refund) => (made as { refund?: string }).refund };
    await stage.call(stage.tool(httpTool({ ...options, effect })), ARGS);
    expect(stage.readings[0]?.reading.reading).toBe(reading);
  });

  test("does not take a text that quotes the key for the key", async () => {
    const quoting = { id: "re_9", note: "see operation KEY" };
    const stage = openStage();
    const { fake, options } = await openBank({
      list: ([one]) => ({ body: [{ ...quoting, note: `see ${one?.reference}` }] }),
    });
    fake.lose("after");
    await stage.call(stage.tool(httpTool(options)), ARGS);
    expect(stage.readings[0]?.reading.reading).toBe("cannot_tell");
  });
});

describe("an answer that is no success", () => {
  const answering = async (answer: FakeAnswer, more: object = {}) => {
    const stage = openStage();
    const fake = await startFake(() => answer);
    const tool = httpTool({
      name: "pay",
      input: typed<{ cents: number }>(),
      url: `${fake.url}/payments`,
      ...more,
    });
    const scope = "request-1";
    const error = await stage
      .tool(tool)({ cents: 1 }, { scope })
      .catch((thrown: unknown) => thrown);
    return { error, outcome: await stage.call(stage.tool(tool), { cents: 1 }, scope), fake };
  };

  test("is a rejection by its status, told with the service's code and words", async () => {
    const body = { error: { code: "card_declined", message: "Your card\nwas declined." } };
    const { error, outcome } = await answering({ status: 402, body });
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", replayed: true });
    const { cause, message } = error as Error & { cause: Error };
    expect(cause.message).toBe("The service answered 402 (card_declined).");
    expect(message).toContain("Your card was declined.");
    expect(JSON.stringify(cause)).not.toContain("Your card");
  });

  test("503 leaves it unknown", async () => {
    const { outcome } = await answering({ status: 503 });
    expect(outcome).toMatchObject({ status: "unknown" });
  });

  test("with a thing that says no is a rejection, though the status is 200", async () => {
    const standing = (paid: unknown) =>
      (paid as { state: string }).state === "refused" ? ("declined" as const) : ("done" as const);
    const answer = { body: { state: "refused", message: "Not enough money" } };
    const { error, outcome } = await answering(answer, { standing });
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected" });
    expect((error as Error).message).toContain("The service declined it: Not enough money");
  });

  test("is read up to a limit", async () => {
    const { error, outcome } = await answering({ status: 200, body: "x".repeat(9_000_000) });
    expect(outcome.status).toBe("unknown");
    expect((error as { cause: Error }).cause.message).toContain("too large");
  });
});

test("its options count as they were given, also where a program goes on to use them for its next tool", async () => {
  const stage = openStage();
  const { fake, kept, options } = await openBank({ list: (data) => ({ body: { data } }) });
  fake.lose("after");
  const find = { url: options.find, list: "data" };
  const headers = { authorization: "account A" };
  const key = { header: "Idempotency-Key", forMs: 3_600_000 };
  const effect = { id: ({ id }: Refund): string | undefined => id };
  const given = { ...options, find, headers, key, effect, commitsWithinMs: 1 };
  const definition = httpTool(given);
  Object.assign(key, { header: "X-Request-Id", forMs: 1 });
  const refund = stage.tool(definition);
  Object.assign(find, { url: `${fake.url}/mails?reference={key}`, list: "mails" });
  headers.authorization = "account B";
  effect.id = () => undefined;
  const outcome = await stage.call(refund, ARGS);
  expect(outcome).toMatchObject({ status: "committed", attempts: 1, result: { id: "re_1" } });
  expect([fake.writes.length, kept.length]).toEqual([1, 1]);
  const requests = [...fake.writes, ...fake.reads];
  expect(requests.map((one) => one.headers.authorization)).toEqual(["account A", "account A"]);
  expect(fake.writes[0]?.headers["idempotency-key"]).toBe(outcome.key);
  expect(definition.keyed).toEqual({ header: "Idempotency-Key", forMs: 3_600_000 });
});

test("a thing that was found is read by the `effect.id` that was given", async () => {
  const stage = openStage();
  const { fake, options } = await openBank({
    list: ([one]) => ({ body: { reference: one?.reference, refund: "re_1" } }),
  });
  fake.lose("after");
  const effect = { id: (made: Refund) => (made as { refund?: string }).refund };
  const refund = stage.tool(httpTool({ ...options, effect }));
  effect.id = () => undefined;
  await stage.call(refund, ARGS);
  expect(stage.readings[0]?.reading.reading).toBe("committed");
});

test("what is found is judged by its standing, as the answer is", async () => {
  const standing = ({ status }: Refund) =>
    status === "pending" ? ("in_progress" as const) : ("done" as const);
  const stage = openStage();
  const { fake, options } = await openBank({ status: "pending" });
  fake.lose("after");
  const tool = stage.tool(httpTool({ ...options, standing }));
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown" });
  expect(stage.readings[0]?.reading.reading).toBe("in_progress");
});

test("a tool is refused that has two ways to look, or an address that is none", () => {
  const input = typed<{ id: string }>();
  const url = "https://api.example/{id}";
  const readState = () => ({ reading: "absent" }) as const;
  expect(() => httpTool({ name: "t", input, url, find: url, readState })).toThrow("find");
  expect(() => httpTool({ name: "t", input, url: "/{id}" })).toThrow("url");
  expect(() => httpTool({ name: "t", input, url, find: "{id}" })).toThrow("find");
});

test("its types come from `input` and `result`", () => {
  const input = typed<{ id: string; cents: number }>();
  const url = "https://api.example/{id}";
  const plain = httpTool({ name: "t", input, url });
  expectTypeOf<Awaited<ReturnType<typeof plain.run>>>().toEqualTypeOf<unknown>();
  const known = httpTool({
    name: "t",
    input,
    url: ({ cents }) => (cents > 100 ? `${url}/large` : url),
    intent: ({ id }) => ({ id }),
    find: { url, isMine: (_, { intent }) => intent.id.length > 0 },
    result: () => ({ made: 1 }),
    standing: ({ made }, { id }) => (made > id.length ? "done" : "open"),
    effect: { id: ({ made }) => `${made}` },
  });
  expectTypeOf<Awaited<ReturnType<typeof known.run>>>().toEqualTypeOf<{ made: number }>();
});
