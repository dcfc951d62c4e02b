/** A worker that a call happens to start keeps the call's scope, unless it is started by `hf.detached`. */
import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { currentScope } from "../../src/key/scope.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { currentToken } from "../../src/wire/token.ts";
import { openWorld, TEA } from "./world.ts";

const open = (): Holdfire =>
  createHoldfire({ app: "shop", store: memoryStore({ forgets: "accepted" }) });

/** Handles one job after the other, in the context in which it was started. */
function startWorker(handle: (job: string) => Promise<unknown>) {
  const jobs: string[] = [];
  let wake = () => {};
  const idle: (() => void)[] = [];
  void (async () => {
    for (;;) {
      const job = jobs.shift();
      if (job !== undefined) await handle(job);
      else {
        for (const done of idle.splice(0)) done();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  })();
  return {
    add(job: string) {
      jobs.push(job);
      wake();
      return new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}

/** Two customers ask for the same payout; the first request starts the worker. */
async function payouts(start: (hf: Holdfire, begin: () => unknown) => unknown): Promise<number> {
  const hf = open();
  let paid = 0;
  const payOut = hf.tool({
    name: "pay_out",
    kind: "write",
    run: (_: { cents: number }) => {
      paid += 1;
      return paid;
    },
  });
  let worker: ReturnType<typeof startWorker> | undefined;
  const request = (scope: string, job: string) =>
    hf.scope(scope, async () => {
      worker ??= start(hf, () =>
        startWorker((id) =>
          currentScope() ? payOut({ cents: 400 }) : hf.scope(id, () => payOut({ cents: 400 })),
        ),
      ) as ReturnType<typeof startWorker>;
      await worker.add(job);
    });
  await request("customer-1/turn-1", "job-1");
  await request("customer-2/turn-1", "job-2");
  return paid;
}

test("a worker started inside a call makes all its calls in that call's scope", async () => {
  expect(await payouts((_, begin) => begin())).toBe(1);
});

test("one that is started by hf.detached does not: both customers are paid", async () => {
  expect(await payouts((hf, begin) => hf.detached(begin))).toBe(2);
});

test("it leaves the attempt, too: its requests and operations are not that attempt's", async () => {
  const world = await openWorld();
  const { hf, pass, client } = world;
  const inner = world.order("neither", { name: "inner" });
  const seen: unknown[] = [];
  let background: Promise<unknown> | undefined;
  const outer = hf.tool({
    name: "outer",
    kind: "write",
    run: async (_: object) => {
      await hf.detached(async () => {
        seen.push(currentToken(), currentScope());
        await client("neither").create({ item: "elsewhere" });
      });
      background = hf.detached(() => inner.outcome(TEA, { scope: "job-1" }));
      await background;
    },
  });
  const outcome = await pass(outer.outcome({}, { scope: "s" }));
  expect(seen).toEqual([undefined, undefined]);
  expect(outcome).toMatchObject({ status: "committed", wireRequests: 0 });
  expect(await pass(hf.operations.list({ tool: "inner" }))).toMatchObject({
    items: [{ scope: "job-1" }],
  });
});

test("other async contexts stay, and what it returns is returned", async () => {
  const hf = open();
  const mine = new AsyncLocalStorage<string>();
  const found = await mine.run("request-7", () =>
    hf.scope("s", () => hf.detached(async () => [mine.getStore(), currentScope()])),
  );
  expect(found).toEqual(["request-7", undefined]);
});
