/** A list that was answered 503 is not an empty list: what a reader says is judged by what its reads were answered. */
import { expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const body = "{}";

interface Listed {
  readonly data?: readonly string[];
}

async function open(list: (nth: number) => number) {
  const world = await openWorld();
  let paid = 0;
  let asked = 0;
  const service = await startService((request, response) => {
    if (request.method === "POST") {
      paid += 1;
      return void request.socket.destroy();
    }
    asked += 1;
    const status = list(asked);
    const data = status === 200 && paid > 0 ? ["payment"] : [];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 200 ? { data } : { error: "busy" }));
  });
  return { ...world, service, paid: () => paid };
}

test.each(["ambient fetch", "the reader's own fetch"])(
  "a 503 taken for nothing: %s",
  async (way) => {
    const { hf, pass, track, service, paid, heard } = await open(() => 503);
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: (_: object) => track(fetch(service.url, { method: "POST", body })),
      readState: async (query) => {
        const ask = way === "ambient fetch" ? fetch : query.fetch;
        const { data } = (await (await track(ask(service.url))).json()) as Listed;
        return data?.[0] ? committed(data[0] as never) : absent();
      },
      commitsWithinMs: 0,
    });
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject({
      status: "unknown",
      reason: "cannot_tell",
    });
    expect(heard("warning", "reader_failed")[0]).toMatchObject({ why: "unanswered" });
    expect(paid()).toBe(1);
  },
);

test("asked again, a reader that is answered is believed", async () => {
  const { hf, pass, track, service, paid } = await open((nth) => (nth === 1 ? 503 : 200));
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: (_: object) => track(fetch(service.url, { method: "POST", body })),
    readState: async () => {
      const { data } = (await (await track(fetch(service.url))).json()) as Listed;
      return data?.[0] ? committed(data[0] as never) : absent();
    },
    commitsWithinMs: 0,
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed" });
  expect(paid()).toBe(1);
});

test.each(["ambient fetch", "the reader's own fetch"])(
  "a question in a body that was not answered, beside one that was: %s",
  async (way) => {
    const { hf, pass, track, heard } = await openWorld();
    const paid = await startService((request) => request.socket.destroy());
    const service = await startService((_, response, nth) =>
      response.writeHead(nth % 2 === 1 ? 503 : 200).end("{}"),
    );
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: (_: object) => track(fetch(paid.url, { method: "POST", body })),
      readState: async (query) => {
        const ask = way === "ambient fetch" ? fetch : query.fetch;
        const list = async (what: string): Promise<Listed> => {
          const answer = await track(ask(service.url, { method: "POST", body: what }));
          return (await answer.json()) as Listed;
        };
        const { data } = await list("{ payments(state: sent) }");
        const { data: more } = await list("{ payments(state: done) }");
        return data?.[0] || more?.[0] ? committed({} as never) : absent();
      },
      commitsWithinMs: 0,
    });
    const expected = { status: "unknown", reason: "cannot_tell" };
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject(expected);
    expect(heard("warning", "reader_failed")[0]).toMatchObject({ why: "unanswered" });
    expect(paid.arrived).toHaveLength(1);
  },
);

test.each([
  [503, { status: "unknown", reason: "cannot_tell" }, 1],
  [200, { status: "not_applied", reason: "absent" }, 3],
])("the 70th page of a list, answered %i", async (last, expected, sent) => {
  const { hf, pass, track } = await openWorld();
  const paid = await startService((request) => request.socket.destroy());
  const service = await startService((request, response) => {
    const isLast = request.url === "/70";
    response.writeHead(isLast ? last : 200).end(JSON.stringify({ more: !isLast }));
  });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: (_: object) => track(fetch(paid.url, { method: "POST", body })),
    readState: async ({ fetch }) => {
      for (let page = 1; ; page += 1) {
        const answer = await track(fetch(`${service.url}/${page}`));
        const { more } = (await answer.json()) as { readonly more?: boolean };
        if (!more) return absent();
      }
    },
    commitsWithinMs: 0,
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject(expected);
  expect(paid.arrived).toHaveLength(sent);
});

test("a read that could not even be sent, and whose error was swallowed, found nothing out", async () => {
  const { hf, pass, track, service, paid, heard } = await open(() => 200);
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: (_: object) => track(fetch(service.url, { method: "POST", body })),
    readState: async (query) => {
      try {
        // A token that was pasted with a line break in it.
        const headers = { authorization: "Bearer to\nken" };
        await query.fetch(service.url, { headers });
      } catch {}
      return absent();
    },
    commitsWithinMs: 0,
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({
    status: "unknown",
    reason: "cannot_tell",
  });
  expect(heard("warning", "reader_failed")[0]).toMatchObject({ why: "unanswered" });
  expect(paid()).toBe(1);
});
