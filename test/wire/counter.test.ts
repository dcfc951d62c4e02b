import { describe, expect, it } from "vitest";
import { answersIn } from "../../src/wire/answers.ts";
import { createCounter, type Seen } from "../../src/wire/counter.ts";
import { locate } from "../../src/wire/redirect.ts";

const seen = (method: string, path: string): Seen => ({
  transport: "undici",
  method,
  address: locate("http://a.example", path),
});

const refused = { code: "ECONNREFUSED", syscall: "connect" };

describe("counting", () => {
  it("counts nothing before anything was seen", () => {
    expect(createCounter().facts()).toEqual({
      wireRequests: 0,
      hops: 0,
      unsent: false,
      answered: undefined,
    });
  });

  it("keeps 64 notes and counts on", () => {
    const counter = createCounter();
    for (let i = 0; i < 100; i += 1) {
      const watch = counter.watch(seen("POST", "/pay"));
      watch.sent();
      watch.answered(503, undefined);
    }
    expect(counter.requests).toHaveLength(64);
    expect(counter.facts().wireRequests).toBe(100);
    expect(counter.repeats()).toEqual([
      { origin: "http://a.example", method: "POST", path: "/pay", count: 100 },
    ]);
  });

  it("remembers 64 different requests for repeats, and no more", () => {
    const counter = createCounter();
    for (let i = 0; i < 65; i += 1) counter.watch(seen("GET", `/${i}`));
    counter.watch(seen("GET", "/63"));
    counter.watch(seen("GET", "/64"));
    expect(counter.repeats()).toEqual([
      { origin: "http://a.example", method: "GET", path: "/63", count: 2 },
    ]);
  });

  it("takes another method, path or query for another request", () => {
    const counter = createCounter();
    for (const [method, path] of [
      ["GET", "/a"],
      ["POST", "/a"],
      ["GET", "/b?x=1"],
      ["GET", "/b?x=2"],
      ["GET", "/c?x=1"],
      ["GET", "/c?x=1"],
    ] as const) {
      counter.watch(seen(method, path));
    }
    expect(counter.repeats().map(({ method, path, count }) => [method, path, count])).toEqual([
      ["GET", "/c", 2],
    ]);
  });

  it("takes no polling for a retry: a read that was answered may be asked again", () => {
    const counter = createCounter();
    for (const status of [200, 404, 200])
      counter.watch(seen("GET", "/job")).answered(status, undefined);
    expect(counter.facts().wireRequests).toBe(3);
    expect(counter.repeats()).toEqual([]);
  });

  it("takes a read that failed and was asked again for a retry, also when it succeeds at last", () => {
    const counter = createCounter();
    for (const status of [503, 429, 200])
      counter.watch(seen("GET", "/job")).answered(status, undefined);
    counter.watch(seen("GET", "/job")).answered(200, undefined);
    expect(counter.repeats()).toMatchObject([{ path: "/job", count: 3 }]);
  });

  it("takes a write that is sent again for a retry, whatever was answered", () => {
    const counter = createCounter();
    for (const status of [200, 200])
      counter.watch(seen("POST", "/pay")).answered(status, undefined);
    expect(counter.repeats()).toMatchObject([{ path: "/pay", count: 2 }]);
  });

  it("counts what was refused apart from what went out", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/pay")).answered(503, undefined);
    counter.refuse(seen("POST", "/pay"));
    counter.refuse(seen("POST", "/pay"));
    expect(counter.facts().wireRequests).toBe(1);
    expect(counter.repeats()).toMatchObject([{ path: "/pay", count: 1, refused: 2 }]);
  });

  it("counts a request whose head goes out twice as two", () => {
    const counter = createCounter();
    const watch = counter.watch(seen("GET", "/a"));
    watch.sent();
    watch.sent();
    watch.answered(200, undefined);
    expect(counter.facts().wireRequests).toBe(2);
    expect(counter.repeats()).toMatchObject([{ count: 2 }]);
    expect(counter.requests.map(({ status }) => status)).toEqual([undefined, 200]);
  });
});

describe("redirect hops", () => {
  it("is one with the request it follows", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/a")).answered(307, "/b?x=1");
    counter.watch(seen("POST", "/b?x=1")).answered(201, undefined);
    expect(counter.facts()).toMatchObject({ wireRequests: 1, hops: 1, answered: 201 });
    expect(counter.requests).toMatchObject([{ status: 307 }, { hopOf: 0, status: 201 }]);
  });

  it("follows each redirect once: the same request again is a second one", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/a")).answered(307, "/b");
    counter.watch(seen("POST", "/b"));
    counter.watch(seen("POST", "/b"));
    expect(counter.facts()).toMatchObject({ wireRequests: 2, hops: 1 });
  });

  it("takes a request to another address, or with an impossible method, for a second one", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/a")).answered(307, "/b");
    counter.watch(seen("POST", "/b?other"));
    counter.watch(seen("GET", "/b"));
    expect(counter.facts()).toMatchObject({ wireRequests: 3, hops: 0 });
  });

  it("does not take a redirect to itself for a repeat", () => {
    const counter = createCounter();
    counter.watch(seen("GET", "/a")).answered(302, "/a");
    counter.watch(seen("GET", "/a")).answered(200, undefined);
    expect(counter.repeats()).toEqual([]);
  });

  it("does not let the page after a POST speak for the POST", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/orders")).answered(303, "/orders/1");
    counter.watch(seen("GET", "/orders/1")).answered(302, "/login");
    counter.watch(seen("GET", "/login")).answered(404, undefined);
    expect(counter.facts()).toMatchObject({ wireRequests: 1, hops: 2, answered: 303 });
  });

  it("forgets redirects that nobody follows", () => {
    const counter = createCounter();
    for (let i = 0; i <= 16; i += 1) counter.watch(seen("GET", `/${i}`)).answered(302, `/to/${i}`);
    counter.watch(seen("GET", "/to/0"));
    counter.watch(seen("GET", "/to/1"));
    expect(counter.facts().hops).toBe(1);
  });
});

describe("what never left", () => {
  it("is unsent when the connection was refused", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/a")).failed(refused);
    expect(counter.facts()).toMatchObject({ wireRequests: 1, unsent: true });
  });

  it("is not unsent while any request may have left", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/a")).failed(refused);
    counter.watch(seen("POST", "/a"));
    expect(counter.facts().unsent).toBe(false);
  });

  it("is not unsent after its head went out, whatever fails later", () => {
    const counter = createCounter();
    const watch = counter.watch(seen("POST", "/a"));
    watch.sent();
    watch.failed(refused);
    expect(counter.facts().unsent).toBe(false);
  });

  it("is not unsent when it went out after a failure", () => {
    const counter = createCounter();
    const watch = counter.watch(seen("POST", "/a"));
    watch.failed(refused);
    watch.failed(refused);
    watch.sent();
    expect(counter.facts().unsent).toBe(false);
  });

  it("is not unsent when it was answered", () => {
    const counter = createCounter();
    const watch = counter.watch(seen("POST", "/a"));
    watch.answered(500, undefined);
    watch.failed(refused);
    expect(counter.facts().unsent).toBe(false);
  });

  it("is not unsent after a failure that proves nothing", () => {
    const counter = createCounter();
    counter.watch(seen("POST", "/a")).failed({ code: "ECONNRESET" });
    expect(counter.facts().unsent).toBe(false);
  });
});

describe("what was answered", () => {
  it("ignores interim answers", () => {
    const counter = createCounter();
    const watch = counter.watch(seen("POST", "/a"));
    watch.answered(103, undefined);
    expect(counter.facts().answered).toBeUndefined();
    watch.answered(201, undefined);
    expect(counter.facts().answered).toBe(201);
  });
});

describe("a login", () => {
  const tried = (path: string, authorization: string, body?: string): Seen => ({
    ...seen("POST", path),
    authorization: () => authorization,
    body,
  });
  const statuses = ({ requests, beyond }: ReturnType<typeof createCounter>) => [
    ...answersIn(requests).map(({ status }) => status),
    ...beyond().map(({ status }) => status),
  ];

  it("is one with the request that was turned away, though that one had no body yet", () => {
    for (const none of ["", "0"]) {
      const counter = createCounter();
      counter.watch(tried("/a", "", none)).answered(401);
      counter.watch(tried("/a", "Digest x", "4")).answered(200);
      expect(statuses(counter)).toEqual([200]);
    }
  });

  it("is none of a request that had another body, another address or the same credentials", () => {
    for (const next of [
      tried("/a", "new", "5"),
      tried("/b", "new", "4"),
      tried("/a", "old", "4"),
      tried("/a", "new"),
      tried("/a", "new", ""),
    ]) {
      const counter = createCounter();
      counter.watch(tried("/a", "old", "4")).answered(401);
      counter.watch(next).answered(200);
      expect(statuses(counter)).toEqual([401, 200]);
    }
  });

  it("is none of a request of which it is not known whether it had a body", () => {
    const counter = createCounter();
    counter.watch(tried("/a", "old")).answered(401);
    counter.watch(tried("/a", "new", "4")).answered(200);
    expect(statuses(counter)).toEqual([401, 200]);
  });

  it("is taken once, and not for one that was itself turned away", () => {
    const counter = createCounter();
    for (const authorization of ["old", "new", "newer"])
      counter.watch(tried("/a", authorization, "4")).answered(401);
    counter.watch(tried("/a", "newest", "4")).answered(200);
    expect(statuses(counter)).toEqual([401, 200]);
  });
});

describe("beyond the first 64", () => {
  const FIRST = Array.from({ length: 64 }, (_, i) => `/${i}`);
  const tried = (path: string, authorization: string): Seen => ({
    ...seen("POST", path),
    authorization: () => authorization,
    body: "4",
  });
  /** The 64 are answered yes, but for the last, if it gets another answer. */
  const opened = (last = 200, location?: string) => {
    const counter = createCounter();
    for (const path of FIRST.slice(0, 63)) counter.watch(tried(path, "old")).answered(200);
    counter.watch(tried("/63", "old")).answered(last, location);
    return counter;
  };
  const seenBeyond = (counter: ReturnType<typeof createCounter>) =>
    counter.beyond().map(({ status }) => status);

  it("a request that was turned away is one with its login", () => {
    const counter = opened();
    counter.watch(tried("/a", "old")).answered(401);
    expect(seenBeyond(counter)).toEqual([401]);
    counter.watch(tried("/a", "new")).answered(200);
    expect(seenBeyond(counter)).toEqual([200]);
  });

  it("one that was turned away and not logged in stays so, whatever others got", () => {
    const counter = opened();
    for (const path of ["/a", "/b"]) counter.watch(tried(path, "old")).answered(401);
    counter.watch(tried("/a", "new")).answered(200);
    expect(seenBeyond(counter).toSorted()).toEqual([200, 401]);
    counter.watch(tried("/b", "new")).answered(401);
    counter.watch(tried("/b", "newer")).answered(200);
    expect(seenBeyond(counter).toSorted()).toEqual([200, 401]);
  });

  it("those that were turned away are not all kept", () => {
    const counter = opened();
    for (let i = 0; i < 1_000; i += 1) counter.watch(tried("/a", "old")).answered(401);
    expect(counter.beyond().length).toBeLessThanOrEqual(65);
    expect(new Set(seenBeyond(counter))).toEqual(new Set([401]));
  });

  it.each([
    ["its login", 401, undefined, tried("/63", "new")],
    ["a hop", 307, "/to", tried("/to", "old")],
  ])("the 64th is one with the 65th, which is %s", (_, status, location, next) => {
    const counter = opened(status, location);
    const watch = counter.watch(next);
    expect(counter.requests[63]).toMatchObject({ path: "/63", open: true, status: undefined });
    watch.answered(503);
    expect(counter.requests[63]).toMatchObject({ path: "/63", open: false, status: 503 });
    expect([counter.requests.length, counter.beyond()]).toEqual([64, []]);
    expect(counter.facts().wireRequests).toBe(status === 307 ? 64 : 65);
  });

  it("a page that is fetched after a POST does not take its place", () => {
    const counter = opened(303, "/to");
    counter.watch(seen("GET", "/to")).answered(404);
    expect(counter.requests[63]).toMatchObject({ status: 303 });
    expect(seenBeyond(counter)).toEqual([404]);
  });
});
