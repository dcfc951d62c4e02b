/** Requests beside the effect: a login, a look, a queue that two attempts share, an exporter. None is taken for proof. */
import { Pool } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const body = "{}";

test("a token that has expired: 401, a new one, and the same request again are one request", async () => {
  const { hf, pass, track, heard } = await openWorld();
  const auth = await startService((_, response) => response.end('{"token":"new"}'));
  const service = await startService((request, response) =>
    response.writeHead(request.headers.authorization === "new" ? 404 : 401).end(),
  );
  const send = (authorization: string) =>
    track(fetch(service.url, { method: "POST", body, headers: { authorization } }));
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    ignores: [auth.url],
    run: async (_: object) => {
      let answer = await send("old");
      if (answer.status === 401) {
        await track(fetch(auth.url, { method: "POST", body }));
        answer = await send("new");
      }
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      return "paid";
    },
  });
  const outcome = await pass(pay.outcome({}, ONCE));
  expect(outcome).toMatchObject({ status: "not_applied", rejection: { status: 404 } });
  expect(heard("warning", "hidden_retry")).toEqual([]);
  expect(service.arrived).toHaveLength(2);
});

test("the same through context.fetch, and once only", async () => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((_, response) => response.writeHead(401).end());
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    via: "http",
    run: async (_: object, { fetch }) => {
      const send = (authorization: string) =>
        track(fetch(service.url, { method: "POST", body, headers: { authorization } }));
      for (const token of ["old", "new", "newer"]) await send(token);
      throw new Error("HTTP 401");
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ rejection: { status: 401 } });
  expect(service.arrived).toHaveLength(2);
});

test("a login with a Request is one, too: what it carries counts, not how it is given", async () => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((request, response) =>
    response.writeHead(request.headers.authorization === "new" ? 204 : 401).end(),
  );
  const remove = hf.tool({
    name: "remove",
    kind: "write",
    via: "http",
    run: async (_: object, { fetch }) => {
      const send = (authorization: string) =>
        track(fetch(new Request(service.url, { method: "DELETE", headers: { authorization } })));
      if ((await send("old")).status === 401) await send("new");
    },
  });
  expect(await pass(remove.outcome({}, ONCE))).toMatchObject({ status: "committed" });
  expect(service.arrived).toHaveLength(2);
});

test("a look before the write says nothing of the write", async () => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((request, response) =>
    response.writeHead(request.method === "GET" ? 200 : 402).end("{}"),
  );
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      await track(fetch(service.url));
      const answer = await track(fetch(service.url, { method: "POST", body }));
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ rejection: { status: 402 } });
});

test("a 303 is a yes, whatever its page answers", async () => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((request, response) =>
    request.method === "POST"
      ? response.writeHead(303, { location: "/done" }).end()
      : response.writeHead(404).end(),
  );
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      await track(fetch(service.url, { method: "POST", body }));
      return "paid";
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed" });
});

test("telemetry that answers 403 is ignored where the tool says so, and else a doubt", async () => {
  const { hf, pass, track } = await openWorld();
  const telemetry = await startService((_, response) => response.writeHead(403).end());
  const service = await startService((_, response) => response.writeHead(201).end("{}"));
  const tool = (name: string, ignores: string[]) =>
    hf.tool({
      name,
      kind: "write",
      ignores,
      run: async (_: object) => {
        await track(fetch(telemetry.url, { method: "POST", body }));
        return (await track(fetch(service.url, { method: "POST", body }))).json();
      },
    });
  expect(await pass(tool("a", [telemetry.url]).outcome({}, ONCE))).toMatchObject({
    status: "committed",
  });
  expect(await pass(tool("b", []).outcome({}, ONCE))).toMatchObject({ status: "unknown" });
});

/** A queue with one place: a job is started in the async context of the job before it. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  const waiting: (() => void)[] = [];
  let isBusy = false;
  const next = () => {
    isBusy = false;
    waiting.shift()?.();
  };
  return <T>(job: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const start = () => {
        isBusy = true;
        last = job().then(resolve, reject).finally(next);
      };
      if (isBusy) waiting.push(start);
      else start();
      void last;
    });
}

test("two attempts share a queue: both are sent, and none is told for the other", async () => {
  const { hf, pass, track } = await openWorld();
  const answered: Record<string, number> = { "/a": 201, "/b": 400 };
  const service = await startService((request, response) =>
    response.writeHead(answered[request.url ?? ""] ?? 500).end("{}"),
  );
  const queue = createQueue();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: ({ to }: { to: string }) =>
      queue(async () => {
        const answer = await track(fetch(`${service.url}/${to}`, { method: "POST", body }));
        if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      }),
  });
  const both = ["a", "b"].map((to) => pay.outcome({ to }, ONCE));
  const [a, b] = await pass(Promise.all(both));
  expect(service.arrived.toSorted()).toEqual(["POST /a", "POST /b"]);
  expect(a?.status).not.toBe("not_applied");
  expect(b?.status).not.toBe("committed");
});

test("through context.fetch each is told its own, in a shared queue too", async () => {
  const { hf, pass, track } = await openWorld();
  const answered: Record<string, number> = { "/a": 201, "/b": 400 };
  const service = await startService((request, response) =>
    response.writeHead(answered[request.url ?? ""] ?? 500).end("{}"),
  );
  const queue = createQueue();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    via: "http",
    run: ({ to }: { to: string }, { fetch }) =>
      queue(async () => {
        const answer = await track(fetch(`${service.url}/${to}`, { method: "POST", body }));
        if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      }),
  });
  const both = ["a", "b"].map((to) => pay.outcome({ to }, ONCE));
  const outcomes = await pass(Promise.all(both));
  expect(outcomes).toMatchObject([{ status: "committed" }, { reason: "rejected" }]);
});

test("an exporter's timer that was armed in an attempt fires after it: sent, and the yes stays", async () => {
  const { hf, pass, track } = await openWorld();
  const telemetry = await startService((_, response) => response.writeHead(500).end());
  const service = await startService((_, response) => response.writeHead(201).end("{}"));
  let flush = () => {};
  let flushed: Promise<Response> | undefined;
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      void new Promise<void>((resolve) => {
        flush = resolve;
      }).then(() => {
        flushed = fetch(telemetry.url, { method: "POST", body });
      });
      return (await track(fetch(service.url, { method: "POST", body }))).json();
    },
  });
  const outcome = await pass(pay.outcome({}, ONCE));
  expect(outcome).toMatchObject({ status: "committed" });
  flush();
  await expect.poll(() => flushed).toBeDefined();
  expect((await flushed)?.status).toBe(500);
  expect(await hf.operations.get(outcome.id)).toMatchObject({ status: "committed" });
});

/** Posts over one connection that all share, and calls back when the body, which comes in two parts, has ended. */
async function openPool() {
  const service = await startService((_, response) => {
    response.write("{");
    setTimeout(() => response.end("}"), 5);
  });
  const pool = new Pool(service.url, { connections: 1 });
  onTestFinished(() => pool.destroy());
  const post = (path: string, done: () => void, failed: (error: unknown) => void): void => {
    pool.request({ path, method: "POST", body }, (error, answer) => {
      if (error) failed(error);
      else answer.body.on("error", failed).on("end", done).resume();
    });
  };
  return { service, post };
}

test("a callback on a connection that another attempt has opened sends as its own attempt", async () => {
  const { hf } = await openWorld();
  const { service, post } = await openPool();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: ({ to }: { readonly to: string }) =>
      new Promise<string>((resolve, reject) => {
        const book = () => post(`/${to}/book`, () => resolve("paid"), reject);
        post(`/${to}/pay`, book, reject);
      }),
  });
  const paid = { status: "committed", wireRequests: 2 };
  expect(await pay.outcome({ to: "ana" }, ONCE)).toMatchObject(paid);
  const both = ["ben", "cem"].map((to) => pay.outcome({ to }, ONCE));
  expect(await Promise.all(both)).toMatchObject([paid, paid]);
  expect(service.arrived).toHaveLength(6);
});

test("and it calls tools in its own scope, in an attempt or in none", async () => {
  const { hf } = await openWorld();
  const { post } = await openPool();
  let mails = 0;
  const mail = hf.tool({
    name: "mail",
    kind: "write",
    run: async (_: object) => {
      mails += 1;
    },
  });
  const payAndMail = (to: string) =>
    new Promise<void>((resolve, reject) => {
      post(`/${to}`, () => void mail({}).then(resolve, reject), reject);
    });
  const run = ({ to }: { readonly to: string }) => payAndMail(to);
  const pay = hf.tool({ name: "pay", kind: "write", run });
  for (const to of ["ana", "ben"]) await pay({ to }, ONCE);
  expect(mails).toBe(2);
  for (const to of ["cem", "dan"]) await hf.scope(to, () => payAndMail(to));
  expect(mails).toBe(4);
});
