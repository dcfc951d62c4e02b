/** A caller may use its buffer, its form or its headers again as soon as it has called `fetch`: that request is sent as it was made. */

import { describe, expect, test } from "vitest";
import { boundFetch } from "../../src/wire/bound-fetch.ts";
import { guardedFetch } from "../../src/wire/guarded-fetch.ts";
import { inTurn, status } from "../integrations/fetch/stage.ts";
import { serve } from "../integrations/shared/owning.ts";
import { json } from "../servers/counting-server.ts";
import { attempt } from "./servers.ts";

type Body = NonNullable<RequestInit["body"]>;

/** A body, and how its owner writes the next request into it. */
type Reused = readonly [body: Body, again: () => void];

const bytes = (size: number, start = 0) => {
  const view = new Uint8Array(new ArrayBuffer(size), start, 3);
  view.set(Buffer.from("ana"));
  return view;
};

const REUSED: readonly (readonly [string, () => Reused])[] = [
  [
    "a Buffer",
    () => {
      const body = Buffer.from("ana");
      return [body, () => body.write("eve")];
    },
  ],
  [
    "a view of a part of a buffer",
    () => {
      const body = bytes(64, 8);
      return [body, () => body.set(Buffer.from("eve"))];
    },
  ],
  [
    "an ArrayBuffer",
    () => {
      const view = bytes(3);
      return [view.buffer, () => view.set(Buffer.from("eve"))];
    },
  ],
  [
    "a DataView",
    () => {
      const view = bytes(3);
      return [new DataView(view.buffer), () => view.set(Buffer.from("eve"))];
    },
  ],
  [
    "parameters",
    () => {
      const body = new URLSearchParams({ to: "ana" });
      return [body, () => body.set("to", "eve")];
    },
  ],
  [
    "a form",
    () => {
      const body = new FormData();
      body.set("to", "ana");
      body.set("file", new File(["x"], "ana.txt"));
      return [body, () => body.set("to", "eve")];
    },
  ],
];

describe.each(REUSED)("a body that is used again, %s,", (_, made) => {
  test("is sent on by a redirect as it was", async () => {
    const server = await serve(inTurn(status(307, { location: "/b" }), json({})));
    const [body, again] = made();
    await attempt(async () => {
      const sent = guardedFetch()(`${server.url}/a`, { method: "POST", body });
      again();
      await sent;
    });
    expect(server.arrivals).toMatchObject([{ path: "/a" }, { path: "/b" }]);
    for (const arrival of server.arrivals) {
      expect(arrival.body).toContain("ana");
      expect(arrival.body).not.toContain("eve");
    }
  });

  test("is what its own `fetch` is given", async () => {
    const [body, again] = made();
    const given: string[] = [];
    const fetch = guardedFetch(async (input, init) => {
      await Promise.resolve();
      given.push(await new Request(input, init).text());
      return new Response("{}");
    });
    await attempt(async () => {
      const sent = fetch("https://a.example/", { method: "POST", body });
      again();
      await sent;
    });
    expect(given[0]).toContain("ana");
    expect(given[0]).not.toContain("eve");
  });
});

describe("headers that are used again are sent as they were", () => {
  const MADE: readonly (readonly [string, (url: string, secret: string) => Made])[] = [
    [
      "a record",
      (url, secret) => {
        const headers: Record<string, string> = { authorization: secret };
        return [url, { headers }, (next) => Object.assign(headers, { authorization: next })];
      },
    ],
    [
      "rows",
      (url, secret) => {
        const row: [string, string] = ["authorization", secret];
        return [url, { headers: [row] }, (next) => row.splice(1, 1, next)];
      },
    ],
    [
      "Headers",
      (url, secret) => {
        const headers = new Headers({ authorization: secret });
        return [url, { headers }, (next) => headers.set("authorization", next)];
      },
    ],
    [
      "those of a Request",
      (url, secret) => {
        const request = new Request(url, { headers: { authorization: secret } });
        return [request, undefined, (next) => request.headers.set("authorization", next)];
      },
    ],
  ];
  type Made = readonly [string | Request, RequestInit | undefined, again: (next: string) => void];

  test.each(MADE)("%s, at a redirect", async (_, made) => {
    const server = await serve(inTurn(status(307, { location: "/b" }), json({})));
    const [input, init, again] = made(`${server.url}/a`, "ana's");
    await attempt(async () => {
      const sent = guardedFetch()(input, init);
      again("eve's");
      await sent;
    });
    const secrets = server.arrivals.map(({ headers }) => headers.authorization);
    expect(secrets).toEqual(["ana's", "ana's"]);
  });

  test.each(MADE)("%s, while the answer of an equal request is waited for", async (_, made) => {
    const server = await serve(inTurn(status(401, {}), json({})));
    const fetch = guardedFetch();
    await attempt(async () => {
      const first = fetch(...argumentsOf(made(server.url, "stale")));
      const [input, init, again] = made(server.url, "ana's");
      const second = fetch(input, init);
      again("eve's");
      await Promise.all([first, second]);
    });
    const secrets = server.arrivals.map(({ headers }) => headers.authorization);
    expect(secrets).toEqual(["stale", "ana's"]);
  });

  const argumentsOf = ([input, init]: Made) => [input, init] as const;
});

test("an address that is used again is that of its own request, also where it waits for an equal one", async () => {
  const server = await serve(inTurn(status(401, {}), json({})));
  const fetch = guardedFetch();
  const url = new URL(`${server.url}/ana`);
  const post = (authorization: string) => ({ method: "POST", headers: { authorization } });
  await attempt(async () => {
    const first = fetch(url, post("stale"));
    const second = fetch(url, post("fresh"));
    url.pathname = "/eve";
    await Promise.all([first, second]);
  });
  expect(server.arrivals.map(({ path }) => path)).toEqual(["/ana", "/ana"]);
});

test("options that are used again are those of their own request, also at a redirect", async () => {
  const given: unknown[] = [];
  const fetch = guardedFetch(async (_, init) => {
    given.push([init?.method, init?.body, init?.credentials]);
    return given.length === 1
      ? new Response(null, { status: 307, headers: { location: "/b" } })
      : new Response("{}");
  });
  const init: RequestInit = { method: "POST", body: "ana", credentials: "omit" };
  await attempt(async () => {
    const sent = fetch("https://a.example/", init);
    Object.assign(init, { method: "DELETE", body: "eve", credentials: "include" });
    await sent;
  });
  expect(given).toEqual(Array(2).fill(["POST", "ana", "omit"]));
});

test.each([undefined, { name: "Idempotency-Key", value: () => "k" }])(
  "a Request in the place of options gives its method, its headers and its body (key header: %o)",
  async (keyHeader) => {
    const server = await serve(json({}));
    const headers = { authorization: "ana's" };
    const init = new Request("https://a.example/", { method: "POST", body: "ana", headers });
    const { token } = await attempt(async () => {});
    await boundFetch(token, fetch, { keyHeader })(server.url, init);
    const key = keyHeader && { "idempotency-key": "k" };
    expect(server.arrivals).toMatchObject([
      { method: "POST", body: "ana", headers: { ...headers, ...key } },
    ]);
  },
);

/** As a client writes its options: accessors, which no loop over the names finds. */
class Asked {
  get method() {
    return "DELETE";
  }
  get headers() {
    return { authorization: "ana's" };
  }
}

test.each([undefined, { name: "Idempotency-Key", value: () => "k" }])(
  "options of a class with accessors are read as `fetch` reads them (key header: %o)",
  async (keyHeader) => {
    const server = await serve(json({}));
    const { token } = await attempt(async () => {});
    await boundFetch(token, fetch, { keyHeader })(server.url, new Asked());
    expect(server.arrivals).toMatchObject([
      { method: "DELETE", headers: { authorization: "ana's" } },
    ]);
  },
);

test.each([Buffer.from("ana"), bytes(64, 8), new DataView(bytes(64, 8).buffer, 8, 3)])(
  "a stand-in is given the bytes of a view in memory of their own (%o)",
  async (body) => {
    const given: unknown[] = [];
    const fetch = guardedFetch(async (_, init = {}) => {
      const { buffer } = init.body as Uint8Array<ArrayBuffer>;
      given.push(Buffer.from(buffer).toString());
      return new Response("{}");
    });
    await attempt(() => fetch("https://a.example/", { method: "POST", body }));
    expect(given).toEqual(["ana"]);
  },
);

test("a stand-in is given options that are an object like any other, also where it follows no redirect", async () => {
  const given: RequestInit[] = [];
  const fetch = guardedFetch(async (_, init = {}) => {
    given.push(init);
    return new Response("{}");
  });
  const init = { method: "POST", redirect: "manual" } as const;
  await attempt(() => fetch("https://a.example/", init));
  expect(given).toEqual([init]);
  expect(Object.getPrototypeOf(given[0])).toBe(Object.prototype);
});
