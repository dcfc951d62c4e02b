import { describe, expect, it } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import type { HoldfireEvents } from "../../src/observe/events.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { guardedFetch } from "../../src/wire/guarded-fetch.ts";
import { repeats, wireFacts } from "../../src/wire/token.ts";
import { attempt, startService } from "./servers.ts";

type Body = NonNullable<RequestInit["body"]> | null;

const post = (body: Body = "b"): RequestInit => ({ method: "POST", body });

const busy = () =>
  startService((_, response, nth) => {
    response.writeHead(503, { "retry-after": "7", "x-nth": String(nth) }).end(`no ${nth}`);
  });

describe("inside an attempt", () => {
  it("lets a write out once and gives its answer again", async () => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    const { token, value } = await attempt(async () => {
      const answers = [];
      for (let i = 0; i < 3; i += 1) answers.push(await fetch(`${url}/pay`, post()));
      return Promise.all(
        answers.map(async (answer) => [
          answer.status,
          answer.url,
          answer.headers.get("retry-after"),
          await answer.text(),
        ]),
      );
    });
    expect(value).toEqual(Array(3).fill([503, `${url}/pay`, "7", "no 1"]));
    expect(arrived).toEqual(["POST /pay"]);
    expect(wireFacts(token).wireRequests).toBe(1);
    expect(repeats(token)).toEqual([
      { origin: url, method: "POST", path: "/pay", count: 1, refused: 2 },
    ]);
  });

  it("gives the first error again, the very same", async () => {
    const { url, arrived } = await startService(({ socket }) => socket.destroy());
    const fetch = guardedFetch();
    const errors: unknown[] = [];
    await attempt(async () => {
      for (let i = 0; i < 3; i += 1) {
        await fetch(url, post()).catch((error: unknown) => errors.push(error));
      }
    });
    expect(errors).toHaveLength(3);
    expect(new Set(errors).size).toBe(1);
    expect(arrived).toHaveLength(1);
  });

  it("gives a repetition that overtakes the first the first one's answer", async () => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    const { value } = await attempt(async () => {
      const answers = await Promise.all([fetch(url, post()), fetch(url, post())]);
      return Promise.all(answers.map((answer) => answer.text()));
    });
    expect(value).toEqual(["no 1", "no 1"]);
    expect(arrived).toHaveLength(1);
  });

  it("does not do a write that was done a second time, and says so", async () => {
    const { url, arrived } = await startService((_, response) => response.end("done"));
    const fetch = guardedFetch();
    const { error } = await attempt(async () => {
      await fetch(`${url}/pay?secret=1`, post());
      await fetch(`${url}/pay?secret=1`, post());
    });
    expect(error).toMatchObject({
      code: "ERR_HOLDFIRE_HIDDEN_RETRY",
      request: `POST ${url}/pay`,
    });
    expect(arrived).toHaveLength(1);
  });

  it("takes another body, another query or another method for another request", async () => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    const { token } = await attempt(async () => {
      await fetch(url, post("a"));
      await fetch(url, post("b"));
      await fetch(url, { method: "PUT", body: "a" });
      await fetch(`${url}/?x=1`, post("a"));
    });
    expect(arrived).toHaveLength(4);
    expect(wireFacts(token).wireRequests).toBe(4);
  });

  it.each([
    ["text", () => "body", "body"],
    ["form parameters", () => new URLSearchParams({ a: "1" }), "a=1"],
    ["bytes", () => Buffer.from("body"), "body"],
    ["a buffer", () => new TextEncoder().encode("body").buffer, "body"],
    ["nothing", () => null, null],
  ])("compares %s by content", async (_, body, text) => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    await attempt(async () => {
      await fetch(url, post(body()));
      await fetch(url, post(body()));
      await fetch(new URL(url), post(text));
      if (text === null) await fetch(new Request(url, { method: "POST" }));
    });
    expect(arrived).toHaveLength(1);
  });

  it.each([
    ["a stream", () => ({ body: new Blob(["b"]).stream(), duplex: "half" })],
    ["a form", () => ({ body: new FormData() })],
  ])("counts %s and does not refuse it, for it cannot be compared", async (_, init) => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    const { token } = await attempt(async () => {
      await fetch(url, { method: "POST", ...init() } as RequestInit);
      await fetch(url, { method: "POST", ...init() } as RequestInit);
    });
    expect(arrived).toHaveLength(2);
    expect(repeats(token)).toMatchObject([{ count: 2 }]);
  });

  it("lets a read that was answered be asked again, and one that failed not", async () => {
    const { url, arrived } = await startService((_, response, nth) => {
      response.writeHead(nth < 3 ? 200 : 503).end(String(nth));
    });
    const fetch = guardedFetch();
    const { value } = await attempt(async () => {
      const bodies = [];
      for (let i = 0; i < 5; i += 1) bodies.push(await (await fetch(url)).text());
      return bodies;
    });
    expect(value).toEqual(["1", "2", "3", "3", "3"]);
    expect(arrived).toHaveLength(3);
  });

  it("ends a loop that would never end", async () => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    const { error } = await attempt(async () => {
      while (!(await fetch(url, post())).ok);
    });
    expect(error).toMatchObject({ code: "ERR_HOLDFIRE_HIDDEN_RETRY" });
    expect(arrived).toHaveLength(1);
  });

  it("keeps no more of an answer than an error needs", async () => {
    const { url } = await startService((_, response) =>
      response.writeHead(500).end("x".repeat(1e6)),
    );
    const fetch = guardedFetch();
    const { value } = await attempt(async () => {
      const first = await fetch(url, post());
      const again = await fetch(url, post());
      return [(await first.text()).length, (await again.text()).length];
    });
    expect(value).toEqual([1e6, 65_536]);
  });

  it("is another story in the next attempt", async () => {
    const { url, arrived } = await busy();
    const fetch = guardedFetch();
    await attempt(() => fetch(url, post()));
    await attempt(() => fetch(url, post()));
    expect(arrived).toHaveLength(2);
  });
});

it("is a plain fetch outside an attempt", async () => {
  const { url, arrived } = await busy();
  const fetch = guardedFetch();
  const bodies = [];
  for (let i = 0; i < 2; i += 1) bodies.push(await (await fetch(url, post())).text());
  expect(bodies).toEqual(["no 1", "no 2"]);
  expect(arrived).toHaveLength(2);
});

it("wraps the fetch it is given", async () => {
  const asked: unknown[] = [];
  const fetch = guardedFetch(async (input) => {
    asked.push(input);
    return new Response("mine");
  });
  const { value } = await attempt(async () => (await fetch("https://a.example/")).text());
  expect(value).toBe("mine");
  expect(asked).toEqual(["https://a.example/"]);
});

describe("with the engine", () => {
  const open = () => {
    const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
    const hidden: Extract<HoldfireEvents["warning"], { code: "hidden_retry" }>[] = [];
    hf.on("warning", (event) => {
      if (event.code === "hidden_retry") hidden.push(event);
    });
    return { hf, hidden };
  };
  /** As a careless tool body does it. */
  const stubborn = async (fetch: typeof globalThis.fetch, url: string) => {
    for (let i = 0; i < 3; i += 1) {
      const answer = await fetch(`${url}/pay`, post());
      if (answer.ok) return answer.text();
      if (i === 2) throw Object.assign(new Error("no"), { status: answer.status });
    }
    return "";
  };

  it("believes the service's no, however often it was given", async () => {
    const { url, arrived } = await startService((_, response) => response.writeHead(404).end());
    const { hf, hidden } = open();
    const pay = (fetch: typeof globalThis.fetch) =>
      hf.tool({ name: "pay", kind: "write", run: (_: object) => stubborn(fetch, url) });
    const bare = await pay(globalThis.fetch).outcome({}, { scope: "1" });
    expect(bare).toMatchObject({ status: "not_applied", reason: "rejected", wireRequests: 3 });
    expect(hidden).toMatchObject([{ origin: url, method: "POST", path: "/pay", count: 3 }]);

    const guarded = await pay(guardedFetch()).outcome({}, { scope: "2" });
    expect(guarded).toMatchObject({ status: "not_applied", reason: "rejected", wireRequests: 1 });
    expect(hidden.at(-1)).toMatchObject({ count: 1, refused: 2 });
    expect(arrived).toHaveLength(4);
  });

  it("leaves a write that was done and then repeated unknown, for it has no result", async () => {
    const { url, arrived } = await startService((_, response) => response.end("done"));
    const { hf } = open();
    const fetch = guardedFetch();
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async (_: object) => {
        await fetch(url, post());
        await fetch(url, post());
      },
    });
    await expect(pay({}, { scope: "1" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN",
      cause: { code: "ERR_HOLDFIRE_HIDDEN_RETRY" },
    });
    expect(arrived).toHaveLength(1);
  });
});
