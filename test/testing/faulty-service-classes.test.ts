import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type FaultyService,
  faults,
  startFaultyService,
  TOOL_CLASSES,
} from "../../src/testing/faulty-service.ts";

const KEY_MEMORY_MS = 1_000;

let time: number;
let service: FaultyService;

beforeEach(async () => {
  time = 5_000;
  service = await startFaultyService({ now: () => time, keyMemoryMs: KEY_MEMORY_MS });
});

afterEach(() => service.close());

const post = (toolClass: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/${toolClass}/effects`, {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });

const postKeyed = (body: unknown, key: string) => post("keyed", body, { "idempotency-key": key });

const list = async (toolClass: string, query = "") => {
  const reply = await fetch(`${service.url}/${toolClass}/effects${query}`);
  return (await reply.json()) as { id: string }[];
};

test("the classes are keyed, readable, both, conditional, neither and liar", () => {
  expect(TOOL_CLASSES).toEqual([
    "keyed",
    "readable",
    "keyed_readable",
    "conditional",
    "neither",
    "liar",
  ]);
});

describe.each(TOOL_CLASSES)("class %s", (toolClass) => {
  test("answers a write with 201, the effect's id and what was sent", async () => {
    const reply = await post(toolClass, { a: 1 }, { "idempotency-key": "k1" });
    expect(reply.status).toBe(201);
    expect(await reply.json()).toEqual({
      id: expect.stringMatching(/^ef_/),
      effect: "created",
      key: "k1",
      at: time,
      intent: { a: 1 },
    });
  });
});

describe.each(["keyed", "keyed_readable"])("class %s", (toolClass) => {
  const send = (body: unknown, key: string) => post(toolClass, body, { "idempotency-key": key });

  test("replays the first answer to the same key, marked, without a second effect", async () => {
    const first = await send({ a: 1, b: 2 }, "k1");
    const second = await send({ b: 2, a: 1 }, "k1");
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.status).toBe(201);
    expect(await second.json()).toEqual(await first.json());
    expect(service.arrivals).toHaveLength(2);
    expect(service.effects).toHaveLength(1);
  });

  test("refuses the same key with another body", async () => {
    await send({ a: 1 }, "k1");
    const reply = await send({ a: 2 }, "k1");
    expect(reply.status).toBe(422);
    expect(await reply.json()).toEqual({ error: { type: "idempotency_error" } });
    expect(service.effects).toHaveLength(1);
  });

  test("takes another key for another request", async () => {
    await send({ a: 1 }, "k1");
    await send({ a: 1 }, "k2");
    expect(service.effects.map(({ key }) => key)).toEqual(["k1", "k2"]);
  });
});

describe("the memory of keys", () => {
  test("lasts until its time is up, counted from the first request", async () => {
    await postKeyed({ a: 1 }, "k1");
    time += KEY_MEMORY_MS - 1;
    expect((await postKeyed({ a: 1 }, "k1")).headers.get("idempotent-replayed")).toBe("true");
    expect(service.effects).toHaveLength(1);
  });

  test("then forgets: the same key is a new request, even with another body", async () => {
    await postKeyed({ a: 1 }, "k1");
    time += KEY_MEMORY_MS;
    const reply = await postKeyed({ a: 2 }, "k1");
    expect([reply.status, reply.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect(service.effects).toHaveLength(2);
  });

  test("is one per class", async () => {
    await post("keyed", { a: 1 }, { "idempotency-key": "k1" });
    const reply = await post("keyed_readable", { a: 2 }, { "idempotency-key": "k1" });
    expect(reply.status).toBe(201);
  });

  test("holds nothing for a request without a key", async () => {
    await post("keyed", { a: 1 });
    await post("keyed", { a: 1 });
    await post("keyed", { a: 1 }, { "idempotency-key": "" });
    expect(service.effects.map(({ key }) => key)).toEqual([undefined, undefined, undefined]);
  });
});

describe.each(["readable", "neither"])("class %s", (toolClass) => {
  test("ignores keys: the same request twice is two effects", async () => {
    await post(toolClass, { a: 1 }, { "idempotency-key": "k1" });
    await post(toolClass, { a: 1 }, { "idempotency-key": "k1" });
    expect(service.effects).toHaveLength(2);
  });
});

describe.each(["keyed", "readable", "keyed_readable", "conditional"])("class %s", (toolClass) => {
  test("finds effects by key, by fields, or all of them, in its own class only", async () => {
    const send = (body: unknown, key: string) =>
      post(toolClass, body, { "idempotency-key": key }).then((reply) => reply.json());
    const first = await send({ to: "ana", amount: 1 }, "k1");
    const second = await send({ to: "ana", amount: 2, done: true }, "k2");
    await post(toolClass === "readable" ? "keyed" : "readable", { to: "ana", amount: 1 });

    expect(await list(toolClass)).toEqual([first, second]);
    expect(await list(toolClass, "?key=k2")).toEqual([second]);
    expect(await list(toolClass, "?to=ana")).toEqual([first, second]);
    expect(await list(toolClass, "?to=ana&amount=2&done=true")).toEqual([second]);
    expect(await list(toolClass, "?to=bob")).toEqual([]);
    expect(await list(toolClass, "?toString=x")).toEqual([]);
  });
});

test("a search by field passes over bodies that have none", async () => {
  await post("readable", "text");
  await post("readable", null);
  await post("readable", { a: null, b: { c: 1 } });
  expect(await list("readable", "?a=null")).toEqual([]);
  expect(await list("readable", "?b=%5Bobject%20Object%5D")).toEqual([]);
  expect(await list("readable")).toHaveLength(3);
});

describe("class neither", () => {
  test("cannot be read", async () => {
    const reply = await fetch(`${service.url}/neither/effects?key=k1`);
    expect([reply.status, reply.headers.get("allow")]).toEqual([405, "POST"]);
    expect(service.reads).toHaveLength(1);
  });
});

describe("class liar", () => {
  test("answers 201 and does nothing, and its read tells the truth", async () => {
    const reply = await post("liar", { a: 1 }, { "idempotency-key": "k1" });
    expect(reply.status).toBe(201);
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toEqual([]);
    expect(await list("liar", "?key=k1")).toEqual([]);
  });

  test("does nothing under a fault that commits either", async () => {
    service.plan(faults.commitThenReset(), faults.duplicateDelivery());
    await expect(post("liar", {})).rejects.toThrow();
    await post("liar", {});
    expect(service.effects).toEqual([]);
  });
});

describe("class conditional, its list", () => {
  test("takes a write for the version it has, once", async () => {
    const { headers } = await fetch(`${service.url}/conditional/effects`);
    const version = headers.get("etag") ?? "";
    const first = await post("conditional", { a: 1 }, { "if-match": version });
    const second = await post("conditional", { a: 1 }, { "if-match": version });
    expect([first.status, second.status]).toEqual([201, 412]);
    expect(first.headers.get("etag")).not.toBe(version);
    expect(service.effects).toHaveLength(1);
    const third = await post("conditional", {}, { "if-match": first.headers.get("etag") ?? "" });
    expect(third.status).toBe(201);
  });
});

describe("class conditional, its records", () => {
  const at = (name: string) => `${service.url}/conditional/records/${name}`;
  const put = (name: string, value: unknown, headers: Record<string, string>) =>
    fetch(at(name), { method: "PUT", body: JSON.stringify(value), headers });

  test("a free name can be taken once", async () => {
    const first = await put("a%2Fb", { n: 1 }, { "if-none-match": "*" });
    const second = await put("a%2Fb", { n: 2 }, { "if-none-match": "*" });
    expect([first.status, second.status]).toEqual([201, 412]);
    expect(await first.json()).toMatchObject({ effect: "created", record: "a/b" });
    expect(service.effects).toMatchObject([{ effect: "created", record: "a/b" }]);
  });

  test("a write for the version it has moves the version, so the same write fails next", async () => {
    const { headers } = await put("a", { n: 1 }, { "if-none-match": "*" });
    const version = headers.get("etag") ?? "";
    const first = await put("a", { n: 2 }, { "if-match": version });
    const again = await put("a", { n: 2 }, { "if-match": version });
    expect([first.status, again.status]).toEqual([200, 412]);
    expect(await first.json()).toMatchObject({ effect: "updated", record: "a" });
    expect(first.headers.get("etag")).not.toBe(version);
    expect(service.effects).toHaveLength(2);
  });

  test("a version may come bare, in a list, or as a star", async () => {
    await put("a", 1, { "if-none-match": "*" });
    expect((await put("a", 2, { "if-match": "1" })).status).toBe(200);
    expect((await put("a", 3, { "if-match": '"7", "2"' })).status).toBe(200);
    expect((await put("a", 4, { "if-match": "*" })).status).toBe(200);
    expect((await put("a", 5, { "if-none-match": '"4"' })).status).toBe(412);
    expect((await put("free", 1, { "if-match": "*" })).status).toBe(412);
  });

  test("a write without a precondition is refused", async () => {
    expect((await put("a", 1, {})).status).toBe(428);
    expect(service.effects).toEqual([]);
  });

  test("a read gives the value and its version, or 404", async () => {
    expect((await fetch(at("a"))).status).toBe(404);
    await put("a", { n: 1 }, { "if-none-match": "*" });
    await put("b", { n: 9 }, { "if-none-match": "*" });
    const written = await put("a", { n: 2 }, { "if-match": "*" });
    const read = await fetch(at("a"));
    const etag = written.headers.get("etag");
    expect(read.headers.get("etag")).toBe(etag);
    expect(await read.json()).toEqual({ name: "a", value: { n: 2 }, etag });
    expect(service.reads).toHaveLength(2);
  });
});
