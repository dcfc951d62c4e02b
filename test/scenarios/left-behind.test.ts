/** What `run` leaves behind: a settled `run` is not a finished request, and what comes after the end is stopped or told. */
import { expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { closedPort, type Handler, startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const body = "{}";

/** Two services, and a notification that fails before the payment is begun. */
async function openTwo(notify: "refused" | "404") {
  const world = await openWorld();
  const answer: Handler = (request, response) =>
    response.writeHead(request.url === "/notify" ? 404 : 201).end();
  const service = await startService(answer);
  const bank = await startService(answer);
  const payments = () =>
    [...service.arrived, ...bank.arrived].filter((line) => line === "POST /pay").length;
  const refused = `http://127.0.0.1:${await closedPort()}/notify`;
  let begin: (() => void)[] = [];
  const later = () => new Promise<void>((resolve) => begin.push(resolve));
  return {
    ...world,
    url: service.url,
    bankUrl: bank.url,
    notifyUrl: notify === "refused" ? refused : `${service.url}/notify`,
    payments,
    later,
    /** The branches that wait go on, long after their attempt. */
    begin() {
      for (const go of begin) go();
      begin = [];
    },
  };
}

test.each(["refused", "404"] as const)(
  "a branch that pays after the other was %s: paid at most once, and no certainty stays that was wrong",
  async (notify) => {
    const world = await openTwo(notify);
    const { hf, bankUrl, notifyUrl, payments, later, begin, pass, track, heard } = world;
    const answers: Promise<unknown>[] = [];
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async (_: object) => {
        const paying = later().then(() => fetch(`${bankUrl}/pay`, { method: "POST", body }));
        answers.push(paying.catch(() => {}));
        const told = async () => {
          const answer = await track(fetch(notifyUrl, { method: "POST", body }));
          if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
        };
        await Promise.all([paying, told()]);
      },
    });
    const outcome = await pass(pay.outcome({}, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", attempts: 1 });
    begin();
    await Promise.all(answers);
    expect(payments()).toBeLessThanOrEqual(1);
    expect(heard("warning", "late_send")).toHaveLength(payments());
    const { id } = outcome;
    await expect
      .poll(() => hf.operations.get(id))
      .toMatchObject({
        status: "unknown",
        reason: "late_send",
      });
    // And it is not fired again.
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
    begin();
    await Promise.all(answers);
    expect(payments()).toBe(1);
  },
);

test.each(["refused", "404"] as const)(
  "through context.fetch nothing leaves after the end: %s, and not paid",
  async (notify) => {
    const { hf, url, notifyUrl, payments, later, begin, pass, track } = await openTwo(notify);
    const late: Promise<unknown>[] = [];
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      via: "http",
      run: async (_: object, { fetch }) => {
        const paying = later().then(() => fetch(`${url}/pay`, { method: "POST", body }));
        late.push(paying.catch((error: unknown) => error));
        const told = async () => {
          const answer = await track(fetch(notifyUrl, { method: "POST", body }));
          if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
        };
        await Promise.all([paying, told()]);
      },
    });
    const outcome = await pass(pay.outcome({}, ONCE));
    begin();
    for (const answer of await Promise.all(late)) {
      expect(answer).toMatchObject({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED" });
    }
    expect(outcome.status).toBe("not_applied");
    expect(payments()).toBe(0);
  },
);

test("to an origin that the attempt has written to, nothing leaves after the end, whatever the client", async () => {
  const { hf, url, notifyUrl, payments, later, begin, pass, track } = await openTwo("404");
  const late: Promise<unknown>[] = [];
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      const paying = later().then(() => fetch(`${url}/pay`, { method: "POST", body }));
      late.push(paying.catch((error: unknown) => error));
      const answer = await track(fetch(notifyUrl, { method: "POST", body }));
      throw new Error(`HTTP ${answer.status}`);
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({
    status: "not_applied",
    rejection: { status: 404 },
  });
  begin();
  expect(await late[0]).toMatchObject({ cause: { code: "ERR_HOLDFIRE_ATTEMPT_ENDED" } });
  expect(payments()).toBe(0);
});

test("a request that is still open when `run` gives up is waited for: found, and paid once", async () => {
  let answer = () => {};
  const world = await openWorld();
  const { hf, pass, track } = world;
  const service = await startService((_, response) => {
    answer = () => response.writeHead(201).end();
  });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    // As p-timeout does it.
    run: (_: object): Promise<string> => {
      const sent = track(fetch(service.url, { method: "POST", body }));
      sent.catch(() => {});
      return Promise.reject(new DOMException("too long", "TimeoutError"));
    },
    readState: () => {
      reads += 1;
      return isDone ? committed("paid") : absent();
    },
    commitsWithinMs: 0,
  });
  let reads = 0;
  let isDone = false;
  const promise = pay.outcome({}, ONCE);
  await expect.poll(() => service.arrived.length).toBe(1);
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  // Nothing is read, and nothing concluded, while the request is open.
  expect(reads).toBe(0);
  isDone = true;
  answer();
  expect(await pass(promise)).toMatchObject({ status: "committed", attempts: 1 });
  expect(service.arrived).toHaveLength(1);
});

test("what was told as not applied, and left late, is found by reconcile, which has its key alone", async () => {
  const world = await openTwo("404");
  const { hf, bankUrl, notifyUrl, payments, later, begin, pass, track } = world;
  let paying: Promise<unknown> = Promise.resolve();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: { to: string }): Promise<string> => {
      paying = later().then(() => fetch(`${bankUrl}/pay`, { method: "POST", body }));
      const answer = await track(fetch(notifyUrl, { method: "POST", body }));
      throw new Error(`HTTP ${answer.status}`);
    },
    readState: () => (payments() > 0 ? committed("paid") : absent()),
  });
  const { id } = await pass(pay.outcome({ to: "ana" }, ONCE));
  begin();
  await paying;
  await expect.poll(() => hf.operations.get(id)).toMatchObject({ reason: "late_send" });
  expect(await pass(hf.reconcile())).toMatchObject({ committed: 1 });
  expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
});

test("a client that goes on retrying after `run` gave up is stopped", async () => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((_, response) => response.writeHead(503).end());
  let again = () => {};
  let retried: Promise<unknown> = Promise.resolve();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      const send = () => fetch(service.url, { method: "POST", body });
      await track(send());
      retried = new Promise<void>((resolve) => {
        again = resolve;
      }).then(send);
      retried.catch(() => {});
      throw new DOMException("too long", "TimeoutError");
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
  again();
  await expect(retried).rejects.toMatchObject({ cause: { code: "ERR_HOLDFIRE_ATTEMPT_ENDED" } });
  expect(service.arrived).toHaveLength(1);
});

test("context.fetch with a signal that was aborted before sends nothing, and says so", async () => {
  const { hf, pass } = await openWorld();
  const service = await startService((_, response) => response.writeHead(201).end());
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    via: "http",
    run: (_: object, { fetch }) =>
      fetch(service.url, { method: "POST", body, signal: AbortSignal.abort() }),
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({
    status: "not_applied",
    reason: "not_sent",
  });
  expect(service.arrived).toEqual([]);
});

test("what a run does when it is told to stop is not done after a success", async () => {
  const { hf } = await openWorld();
  const service = await startService((_, response) => response.end('{"id":"job"}'));
  const begin = hf.tool({
    name: "begin",
    kind: "write",
    run: async ({ fails }: { readonly fails: boolean }, { signal }) => {
      const answer = await fetch(service.url, { method: "POST", body: "{}" });
      signal.addEventListener("abort", () => cancelled.push(fails));
      if (fails) throw new Error("a bug");
      return answer.json();
    },
  });
  const cancelled: boolean[] = [];
  const caller = new AbortController();
  const options = { scope: "job-1", signal: caller.signal };
  expect(await begin.outcome({ fails: false }, options)).toMatchObject({ status: "committed" });
  expect(await begin.outcome({ fails: true }, options)).toMatchObject({ status: "unknown" });
  caller.abort();
  await hf.close();
  expect(cancelled).toEqual([true]);
});
