/** A person's yes, and a process that is killed before, while and after it is used. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { startChild } from "../processes/child.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import type { Job, Told } from "./approval-child.ts";
import { waiting } from "./bucket.ts";

const newFolder = temporaryFolder();

interface Dropped {
  readonly bucket: string;
  readonly key: string;
}

/** Drops what it is told to, and can be asked what it dropped. */
async function startBuckets() {
  const dropped: Dropped[] = [];
  const server = createServer(async (request, response) => {
    const key = new URL(request.url ?? "/", "http://buckets").searchParams.get("key");
    if (request.method === "POST") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      dropped.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.end(JSON.stringify({ id: `drop-${dropped.length}` }));
      return;
    }
    const at = dropped.findIndex((one) => one.key === key);
    response.end(JSON.stringify(at < 0 ? null : { id: `drop-${at + 1}` }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { dropped, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function startDrop(job: Omit<Job, "tag">) {
  const child = startChild("approval-child.ts", import.meta.url);
  onTestFinished(async () => {
    child.kill();
    await child.ended;
  });
  child.send({ tag: "job", ...job } as Job);
  return child;
}

async function killedAt(job: Omit<Job, "tag">): Promise<void> {
  const child = startDrop(job);
  await child.next("stopped");
  child.kill();
  expect((await child.ended).signal).toBe("SIGKILL");
}

async function inbox(path: string) {
  const hf = createHoldfire({ store: sqliteStore({ path }) });
  onTestFinished(() => hf.close());
  return hf;
}

test.each([
  ["between yes and run: before the yes is spent", "answered", 0],
  ["between yes and run: after the yes is spent", "claimed", 0],
  ["between run and settle", "sent", 1],
] as const)("SIGKILL %s: one effect, and nobody is asked twice", async (_, stopAt, before) => {
  const { dropped, url } = await startBuckets();
  const path = join(newFolder(), "ledger.db");
  await killedAt({ path, url, confirm: "yes", stopAt });
  expect(dropped).toHaveLength(before);

  // Would say no if it were asked: the yes of before must do.
  const next = startDrop({ path, url, confirm: "no", stopAt: "nowhere" });
  expect(await next.next<Told>("told")).toMatchObject({ status: "committed", asked: 0 });
  await next.ended;
  expect(dropped).toMatchObject([{ bucket: "logs" }]);

  const third = startDrop({ path, url, confirm: "no", stopAt: "nowhere" });
  expect(await third.next<Told>("told")).toMatchObject({ status: "committed", asked: 0 });
  expect(dropped).toHaveLength(1);
});

test("SIGKILL while the person thinks: the question is in the inbox, and its yes fires once", async () => {
  const { dropped, url } = await startBuckets();
  const path = join(newFolder(), "ledger.db");
  await killedAt({ path, url, confirm: "yes", stopAt: "asked" });
  const held = startDrop({ path, url, confirm: "none", stopAt: "nowhere" });
  expect(await held.next<Told>("told")).toMatchObject({ status: "held" });
  await held.ended;
  expect(dropped).toEqual([]);

  const hf = await inbox(path);
  const { operation, digest } = await waiting(hf);
  await hf.approvals.approve(operation.id, { digest, by: "ana" });
  const calls = [1, 2].map(() => startDrop({ path, url, confirm: "none", stopAt: "nowhere" }));
  const told = await Promise.all(calls.map((call) => call.next<Told>("told")));
  expect(told.map(({ status }) => status)).toEqual(["committed", "committed"]);
  expect(dropped).toHaveLength(1);
  expect((await hf.operations.get(operation.id))?.answers).toMatchObject([{ by: "ana" }]);
});

test("a no in another process, while the person here thinks: nothing fires", async () => {
  const { dropped, url } = await startBuckets();
  const path = join(newFolder(), "ledger.db");
  const child = startDrop({ path, url, confirm: "yes", stopAt: "asked" });
  await child.next("stopped");
  const hf = await inbox(path);
  const { operation, digest } = await waiting(hf);
  await hf.approvals.deny(operation.id, { digest, by: "bob" });
  child.kill();
  await child.ended;
  const next = startDrop({ path, url, confirm: "yes", stopAt: "nowhere" });
  expect(await next.next<Told>("told")).toMatchObject({ status: "denied", asked: 0 });
  expect(dropped).toEqual([]);
});
