import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type FaultyService,
  faults,
  readFaults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";

let service: FaultyService;

beforeEach(async () => {
  service = await startFaultyService();
});

afterEach(() => service.close());

test("create sends the body and the key, and find finds the same effect", async () => {
  const client = service.client("keyed_readable");
  const created = await client.create({ to: "ana", amount: 4 }, { key: "k1" });
  expect(created).toMatchObject({ effect: "created", key: "k1", intent: { to: "ana", amount: 4 } });
  expect(service.effects.map(({ effectId }) => effectId)).toEqual([created.id]);
  expect(await client.find({ key: "k1" })).toEqual([created]);
  expect(await client.find({ to: "ana", amount: 4 })).toEqual([created]);
  expect(await client.find({ to: "a&b=c" })).toEqual([]);
  expect(await client.find({})).toEqual([created]);
});

test("an answer that is no success is an error with its own status, headers and body", async () => {
  const headers = { "retry-after": "3" };
  service.plan(faults.status({ status: 429, headers, body: { error: { type: "slow_down" } } }));
  const error: unknown = await service
    .client("keyed")
    .create({})
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(Object.keys(error as object)).toEqual(["status", "headers", "body"]);
  expect(error).toMatchObject({ status: 429, body: { error: { type: "slow_down" } } });
  expect((error as { headers: Headers }).headers.get("retry-after")).toBe("3");
});

test("an answer's body that is not JSON is given as text", async () => {
  service.plan(faults.status({ status: 502, body: "<h1>Bad gateway</h1>" }));
  await expect(service.client("keyed").create({})).rejects.toMatchObject({
    status: 502,
    body: "<h1>Bad gateway</h1>",
  });
});

test("what fetch throws passes through, and nothing is sent twice", async () => {
  service.plan(faults.commitThenReset());
  await expect(service.client("keyed").create({})).rejects.toMatchObject({
    cause: { code: "ECONNRESET" },
  });
  expect(service.arrivals).toHaveLength(1);
});

test("find fails as create does", async () => {
  service.planRead(readFaults.status({ status: 503 }));
  await expect(service.client("keyed").find({})).rejects.toMatchObject({ status: 503 });
  await expect(service.client("neither").find({})).rejects.toMatchObject({ status: 405 });
});

test("a signal ends what it was given to", async () => {
  const signal = AbortSignal.abort("enough");
  const client = service.client("conditional");
  await expect(client.create({}, { signal })).rejects.toBe("enough");
  await expect(client.find({}, { signal })).rejects.toBe("enough");
  await expect(client.version({ signal })).rejects.toBe("enough");
  await expect(client.put("a", 1, { signal })).rejects.toBe("enough");
  await expect(client.get("a", { signal })).rejects.toBe("enough");
  expect([...service.arrivals, ...service.reads]).toEqual([]);
});

test("a fetch of one's own sends the requests", async () => {
  const sent: unknown[] = [];
  const client = service.client("readable", {
    fetch: (to, init) => {
      sent.push([init?.method, to]);
      return fetch(to, init);
    },
  });
  await client.create({});
  await client.find({ key: "k1" });
  expect(sent).toEqual([
    ["POST", `${service.url}/readable/effects`],
    ["GET", `${service.url}/readable/effects?key=k1`],
  ]);
});

test("create takes the version of the list as its precondition", async () => {
  const client = service.client("conditional");
  const ifMatch = await client.version();
  await client.create({ a: 1 }, { ifMatch });
  await expect(client.create({ a: 1 }, { ifMatch })).rejects.toMatchObject({ status: 412 });
  expect(await client.version()).not.toBe(ifMatch);
  expect(service.effects).toHaveLength(1);
});

test("put takes a free name, or a version; get reads both back", async () => {
  const client = service.client("conditional");
  expect(await client.get("a b/c")).toBeUndefined();
  await client.put("a b/c", { n: 1 }, { key: "k1" });
  await expect(client.put("a b/c", { n: 2 })).rejects.toMatchObject({ status: 412 });
  const read = await client.get("a b/c");
  expect(read).toMatchObject({ name: "a b/c", value: { n: 1 } });
  const updated = await client.put("a b/c", { n: 2 }, { ifMatch: read?.etag });
  expect(updated).toMatchObject({ effect: "updated", record: "a b/c" });
  expect(await client.find({ key: "k1" })).toHaveLength(1);
});

test("get takes only a 404 for absence", async () => {
  service.planRead(readFaults.status({ status: 500 }), readFaults.reset());
  const client = service.client("conditional");
  await expect(client.get("a")).rejects.toMatchObject({ status: 500 });
  await expect(client.get("a")).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
});
