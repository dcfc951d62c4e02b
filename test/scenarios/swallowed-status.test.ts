/** A returned value is not a yes when the service said no, and a thrown word is one when the wire saw it. */
import { request } from "node:http";
import axios from "axios";
import got from "got";
import { expect, test } from "vitest";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };

const CLIENTS: Record<string, (url: string) => Promise<unknown>> = {
  "fetch and its json": async (url) => (await fetch(url, { method: "POST", body: "{}" })).json(),
  "axios that validates nothing": async (url) =>
    (await axios.post(url, {}, { validateStatus: () => true })).data,
  "got that throws nothing": async (url) =>
    (await got.post(url, { json: {}, throwHttpErrors: false, retry: { limit: 0 } })).body,
  "a catch that returns": async (url) => {
    try {
      return (await axios.post(url, {})).data;
    } catch (error) {
      return { error: String(error) };
    }
  },
};

async function open(status: number) {
  const world = await openWorld();
  const service = await startService((_, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end('{"error":"no"}'),
  );
  return { ...world, service };
}

for (const [name, send] of Object.entries(CLIENTS)) {
  test.each([400, 401, 402, 429, 500, 503])(
    `${name}, answered %i: not known, with a warning, and sent once`,
    async (status) => {
      const { hf, pass, track, heard, service } = await open(status);
      const run = (_: object) => track(send(service.url));
      const pay = hf.tool({ name: "pay", kind: "write", run });
      expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
      expect(heard("warning", "swallowed_status")).toMatchObject([{ status }]);
      expect(service.arrived).toHaveLength(1);
    },
  );
}

test.each([400, 402, 404])(
  "through context.fetch an answered %i is a rejection",
  async (status) => {
    const { hf, pass, track, service } = await open(status);
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      via: "http",
      run: async (_: object, { fetch }) =>
        (await track(fetch(service.url, { method: "POST", body: "{}" }))).json(),
    });
    const expected = { status: "not_applied", reason: "rejected", rejection: { status } };
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject(expected);
  },
);

test.each([400, 402, 404])("`throw new Error(…)` after one %i is a rejection", async (status) => {
  const { hf, pass, track, service } = await open(status);
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      const answer = await track(fetch(service.url, { method: "POST", body: "{}" }));
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    },
  });
  const expected = { status: "not_applied", reason: "rejected", rejection: { status } };
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject(expected);
});

test("a reader is not taken for blind because it does not find what was refused", async () => {
  const { hf, pass, track, heard, service, clock } = await open(503);
  const { absent } = await import("../../src/engine/define/reading.ts");
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) =>
      (await track(fetch(service.url, { method: "POST", body: "{}" }))).json(),
    readState: () => absent(),
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
  await clock.advance(60_000);
  expect(heard("warning", "reader_blind")).toEqual([]);
});

test.each(["ambient fetch", "context.fetch"])(
  "a yes to the next request at the same address is no yes to the one before: %s",
  async (way) => {
    const { hf, pass, track, heard } = await openWorld();
    const service = await startService((_, response, nth) =>
      response.writeHead(nth === 1 ? 503 : 200).end("{}"),
    );
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async (_: object, context) => {
        const ask = way === "context.fetch" ? context.fetch : fetch;
        const query = async (text: string) =>
          (await track(ask(`${service.url}/graphql`, { method: "POST", body: text }))).json();
        return { paid: await query("mutation { pay }"), by: await query("{ customer { name } }") };
      },
    });
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
    expect(heard("warning", "swallowed_status")).toHaveLength(1);
    expect(service.arrived).toHaveLength(2);
  },
);

test("another request with other credentials is no login of one that was turned away", async () => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((_, response, nth) =>
    response.writeHead(nth === 1 ? 401 : 200).end("{}"),
  );
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      const query = (authorization: string, text: string) =>
        track(fetch(service.url, { method: "POST", body: text, headers: { authorization } }));
      await query("of the user", "mutation { pay }");
      return (await query("of the app", "mutation { audit }")).json();
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
});

test.each([
  [503, undefined, "unknown"],
  [404, [404], "committed"],
  [200, undefined, "committed"],
])("the 70th of 80 writes, answered %i, where %o is a yes", async (last, accepts, status) => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((request, response) =>
    response.writeHead(request.url === "/70" ? last : 200).end("{}"),
  );
  const send = async (to: number) =>
    (await track(fetch(`${service.url}/${to}`, { method: "DELETE" }))).text();
  const clear = hf.tool({
    name: "clear",
    kind: "write",
    accepts,
    run: async (_: object) => {
      for (let to = 1; to <= 80; to += 1) await send(to);
      return "cleared";
    },
  });
  expect(await pass(clear.outcome({}, ONCE))).toMatchObject({ status });
  expect(service.arrived).toHaveLength(80);
});

test.each(["ambient fetch", "context.fetch"])(
  "a token that runs out after the 64th write makes no good run unknown: %s",
  async (way) => {
    const { hf, pass, track, heard } = await openWorld();
    const service = await startService((request, response, nth) => {
      const isOld = nth > 64 && request.headers.authorization === "old";
      response.writeHead(isOld ? 401 : 200).end("{}");
    });
    const clear = hf.tool({
      name: "clear",
      kind: "write",
      run: async (_: object, context) => {
        const ask = way === "context.fetch" ? context.fetch : fetch;
        let authorization = "old";
        const send = (to: number) =>
          track(ask(`${service.url}/${to}`, { method: "DELETE", headers: { authorization } }));
        for (let to = 1; to <= 80; to += 1) {
          if ((await send(to)).status !== 401) continue;
          authorization = "new";
          await send(to);
        }
        return "cleared";
      },
    });
    expect(await pass(clear.outcome({}, ONCE))).toMatchObject({ status: "committed" });
    expect(service.arrived).toHaveLength(81);
    expect(heard("warning", "swallowed_status")).toEqual([]);
  },
);

const SENDERS: Record<string, (url: string, authorization: string, body: string) => Promise<void>> =
  {
    "node:http": (url, authorization, body) =>
      new Promise((resolve, reject) => {
        const headers = { authorization, "content-length": body.length };
        const sending = request(url, { method: "POST", headers }, (answer) =>
          answer.resume().once("end", resolve),
        );
        sending.once("error", reject).end(body);
      }),
    fetch: async (url, authorization, body) => {
      await (await fetch(url, { method: "POST", headers: { authorization }, body })).text();
    },
  };

test.each(Object.entries(SENDERS))(
  "a first try without the body, to be asked for credentials, is one with the request: %s",
  async (_, send) => {
    const { hf, pass, track, heard } = await openWorld();
    const service = await startService((asked, response) =>
      response.writeHead(asked.headers.authorization === "Digest x" ? 201 : 401).end(),
    );
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async (_: object) => {
        await track(send(service.url, "Digest", ""));
        await track(send(service.url, "Digest x", "1500 to ana"));
        return "paid";
      },
    });
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed" });
    expect(service.arrived).toHaveLength(2);
    expect([...heard("warning", "hidden_retry"), ...heard("warning", "swallowed_status")]).toEqual(
      [],
    );
  },
);
