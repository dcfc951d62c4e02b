import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type FaultyService,
  faults,
  readFaults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";

let time: number;
let service: FaultyService;

beforeEach(async () => {
  time = 10_000;
  service = await startFaultyService({ now: () => time });
});

afterEach(() => service.close());

const read = (path = "/readable/effects", init?: RequestInit) =>
  fetch(`${service.url}${path}`, init);
const found = async (path?: string) => ((await (await read(path)).json()) as unknown[]).length;
const create = () => service.client("readable").create({ a: 1 });

test("a read can be answered with 503, or any status, header and body", async () => {
  const headers = { "Retry-After": "7", "content-type": "text/plain" };
  service.planRead(readFaults.status(), readFaults.status({ status: 429, headers, body: "wait" }));
  expect((await read()).status).toBe(503);
  const second = await read();
  expect(second.status).toBe(429);
  expect(second.headers.get("retry-after")).toBe("7");
  expect(second.headers.get("content-type")).toBe("text/plain");
  expect(await second.text()).toBe("wait");
  expect((await read()).status).toBe(200);
});

test("a read can be reset", async () => {
  service.planRead(readFaults.reset());
  await expect(read()).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
  expect(service.reads).toHaveLength(1);
});

test("a read can hang until the client leaves", async () => {
  service.planRead(readFaults.hang());
  const leave = new AbortController();
  const lost = expect(read(undefined, { signal: leave.signal })).rejects.toThrow("aborted");
  await expect.poll(() => service.reads.length).toBe(1);
  leave.abort();
  await lost;
});

test("a read that lags tells what was true then, version included", async () => {
  await create();
  const { etag } = Object.fromEntries((await read()).headers);
  time += 500;
  await create();
  service.planRead(readFaults.lag({ ms: 500 }), readFaults.lag({ ms: 501 }));
  const lagging = await read();
  expect(lagging.headers.get("etag")).toBe(etag);
  expect(await lagging.json()).toHaveLength(1);
  expect(await found()).toBe(0);
  expect(await found()).toBe(2);
});

test("a record that lags has its old value, or none", async () => {
  const client = service.client("conditional");
  await client.put("a", 1);
  time += 500;
  await client.put("a", 2, { ifMatch: "1" });
  service.planRead(readFaults.lag({ ms: 500 }), readFaults.lag({ ms: 501 }));
  expect(await client.get("a")).toEqual({ name: "a", value: 1, etag: '"1"' });
  expect(await client.get("a")).toBeUndefined();
  expect(await client.get("a")).toMatchObject({ value: 2 });
});

test("a standing fault is every read's for which none is planned, until taken back", async () => {
  await create();
  service.alwaysRead(readFaults.lag({ ms: 1 }));
  service.planRead(readFaults.status());
  expect((await read()).status).toBe(503);
  expect(await found()).toBe(0);
  service.alwaysRead(undefined);
  expect(await found()).toBe(1);
  expect(service.reads.map(({ fault }) => fault?.tag)).toEqual(["status", "lag", undefined]);
});

test("faults of reads are not those of writes", async () => {
  service.plan(faults.resetBefore());
  service.planRead(readFaults.status());
  expect((await read()).status).toBe(503);
  await expect(create()).rejects.toThrow();
  expect((await read()).status).toBe(200);
});

test("a read that is refused anyway uses up no fault", async () => {
  service.planRead(readFaults.status());
  expect((await read("/neither/effects")).status).toBe(405);
  expect((await read()).status).toBe(503);
});
