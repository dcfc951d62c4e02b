/** Bodies: read once into bytes, sent the same on every attempt, named by what they hold. */
import { describe, expect, it } from "vitest";
import { printBody } from "../../../src/integrations/fetch/body-print.ts";
import { openHoldfire } from "../shared/owning.ts";
import { created, inTurn, keyed, openFetch, post, reset } from "./stage.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function form(): FormData {
  const data = new FormData();
  data.set("purpose", "a\nb");
  data.append('we"ird', "1");
  data.append('we"ird', "2");
  data.set("file", new File(["\u0000\u00ff line\n"], 'n"ame.bin', { type: "image/png" }));
  return data;
}

type Body = NonNullable<RequestInit["body"]>;

const BODIES: readonly (readonly [string, () => Body, string | undefined, string])[] = [
  ["a string", () => "x=1", "text/plain;charset=UTF-8", "x=1"],
  ["an empty string", () => "", "text/plain;charset=UTF-8", ""],
  [
    "search parameters",
    () => new URLSearchParams({ a: "1 2" }),
    "application/x-www-form-urlencoded;charset=UTF-8",
    "a=1+2",
  ],
  ["a Blob", () => new Blob(["x=1"], { type: "text/csv" }), "text/csv", "x=1"],
  ["an ArrayBuffer", () => bytes("x=1").buffer as ArrayBuffer, undefined, "x=1"],
  ["a typed array", () => bytes("_x=1_").subarray(1, 4), undefined, "x=1"],
  ["a stream", () => new Blob(["x=1"]).stream(), undefined, "x=1"],
];

describe.each(BODIES)("%s", (_, make, contentType, text) => {
  const init = () => ({ method: "POST", body: make(), duplex: "half" }) as RequestInit;

  it("is sent again as it was, and is the same write the second time", async () => {
    const { inJob, server } = await openFetch(inTurn(reset, created), { keyed });
    await inJob("/a", init());
    await inJob("/a", init());
    expect(server.arrivals.map(({ body }) => body)).toEqual([text, text]);
    expect(server.arrivals.map(({ headers }) => headers["content-type"])).toEqual([
      contentType,
      contentType,
    ]);
  });

  it("can come in a Request, and is the same write", async () => {
    const { hf, fetch, inJob, server } = await openFetch(created);
    const request = new Request(`${server.url}/a`, init());
    await hf.scope("job", () => fetch(request));
    await inJob("/a", init());
    expect(server.arrivals.map(({ body }) => body)).toEqual([text]);
  });

  it("can come in a Request in the place of options, or in options that are inherited, and is the same write", async () => {
    const { inJob, server } = await openFetch(created);
    await inJob("/a", new Request("https://a.example/", init()));
    await inJob("/a", Object.create(init()));
    await inJob("/a", init());
    const seen = server.arrivals.map(({ method, body }) => [method, body]);
    expect(seen).toEqual([["POST", text]]);
  });
});

describe("a form", () => {
  it("has the same bytes on every attempt, and the service reads what was put in", async () => {
    const { inJob, server } = await openFetch(inTurn(reset, created), { keyed });
    await inJob("/a", post(form()));
    const [first, second] = server.arrivals;
    expect(second?.body).toBe(first?.body);
    const type = String(second?.headers["content-type"]);
    const echo = await openFetch((response, arrival) => {
      response.writeHead(200, { "content-type": type }).end(Buffer.from(arrival.body));
    });
    const read = await (await echo.inJob("/echo", post(form()))).formData();
    expect(read.get("purpose")).toBe("a\r\nb");
    expect(read.getAll('we"ird')).toEqual(["1", "2"]);
    const file = read.get("file") as File;
    expect([file.name, file.type]).toEqual(['n"ame.bin', "image/png"]);
    expect(await file.text()).toBe("\u0000\u00ff line\n");
  });

  it("is the same write again, also in a Request with a boundary of its own", async () => {
    const { hf, fetch, inJob, server } = await openFetch(created);
    await inJob("/a", post(form()));
    await inJob("/a", post(form()));
    const request = new Request(`${server.url}/a`, post(form()));
    await hf.scope("job", () => fetch(request));
    expect(server.arrivals).toHaveLength(1);
  });

  it("with another file is another write", async () => {
    const { inJob, server } = await openFetch(created);
    await inJob("/a", post(form()));
    const other = form();
    other.set("file", new File(["\u0000\u00ff Line\n"], 'n"ame.bin', { type: "image/png" }));
    await inJob("/a", post(other));
    expect(server.arrivals).toHaveLength(2);
  });
});

describe("what is too long", () => {
  const long = "a".repeat(11);
  it.each<readonly [string, () => Body]>([
    ["a string", () => long],
    ["a Blob", () => new Blob([long])],
    ["a stream", () => new Blob([long]).stream()],
    ["a form", () => formOf(long)],
  ])("%s: an error, and nothing is sent", async (_, make) => {
    const { inJob, server } = await openFetch(created, { maxBodyBytes: 10 });
    const init = { method: "POST", body: make(), duplex: "half" } as RequestInit;
    await expect(inJob("/a", init)).rejects.toMatchObject({ path: "init.body" });
    expect(server.arrivals).toHaveLength(0);
  });

  it("a stream without end is left off", async () => {
    let left = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
      cancel: () => {
        left = true;
      },
    });
    const { inJob } = await openFetch(created, { maxBodyBytes: 10_000 });
    const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;
    await expect(inJob("/a", init)).rejects.toMatchObject({ path: "init.body" });
    expect(left).toBe(true);
  });

  it("a stream that never comes ends with the deadline or the signal", async () => {
    const silent = () =>
      ({ method: "POST", body: new ReadableStream(), duplex: "half" }) as RequestInit;
    const { inJob, server } = await openFetch(created, { deadlineMs: 20 });
    await expect(inJob("/a", silent())).rejects.toMatchObject({ path: "init.body" });
    const patient = await openFetch(created);
    const stop = new AbortController();
    const call = patient.inJob("/a", { ...silent(), signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(server.arrivals.length + patient.server.arrivals.length).toBe(0);
  });

  const formOf = (text: string) => {
    const data = new FormData();
    data.set("a", text);
    return data;
  };
});

it("what the caller changes afterwards changes nothing", async () => {
  const hf = openHoldfire();
  const { inJob, server } = await openFetch(inTurn(reset, created), { keyed }, hf);
  const body = bytes("first");
  const call = inJob("/a", post(body));
  body.fill(120);
  await call;
  expect(server.arrivals.map((arrival) => arrival.body)).toEqual(["first", "first"]);
});

describe("JSON in the intent", () => {
  const JSON_TYPE = { "content-type": "application/json" };

  it("the order of keys and white space play no part", async () => {
    const { inJob, server } = await openFetch(created);
    await inJob("/a", post(`{"a":1,"b":[2]}`, JSON_TYPE));
    await inJob("/a", post(`{ "b": [2.0], "a": 1 }`, JSON_TYPE));
    expect(server.arrivals).toHaveLength(1);
  });

  it("while it is open it is sent again only with the very same bytes", async () => {
    const { inJob, server } = await openFetch(reset, { keyed, attempts: 1 });
    const unknown = { code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" };
    await expect(inJob("/a", post(`{"a":1,"b":2}`))).rejects.toMatchObject(unknown);
    await expect(inJob("/a", post(`{"b":2,"a":1}`))).rejects.toMatchObject({
      ...unknown,
      reason: "reworded",
    });
    expect(server.arrivals).toHaveLength(1);
    await expect(inJob("/a", post(`{"a":1,"b":2}`))).rejects.toMatchObject(unknown);
    expect(server.arrivals).toHaveLength(2);
  });

  it("a tool-call id in it is an error: it would be new on every try", async () => {
    const { inJob, server } = await openFetch(created);
    await expect(inJob("/a", post(`{"ref":"call_9f8a7b6c5d4e3f2a1b0c"}`))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_VOLATILE_INTENT",
    });
    expect(server.arrivals).toHaveLength(0);
  });

  const print = (text: string, type = "application/json") => printBody(bytes(text), type);

  it.each([
    [`{"id":9007199254740993}`, `{"id":9007199254740992}`],
    [`{"n":0.1234567890123456789}`, `{"n":0.1234567890123456788}`],
    [`{"n":9007199254740991.4}`, `{"n":9007199254740991}`],
    [`{"n":1e-400}`, `{"n":0}`],
    [`{"a":1,"a":2}`, `{"a":2}`],
    [`{"a":"x:y","a":2}`, `{"a":2}`],
  ])("%s is not taken for %s", (one, other) => {
    expect(print(one)).not.toEqual(print(other));
  });

  it.each([
    [`{"n":1.50,"m":1e2,"z":-0}`, { n: 1.5, m: 100, z: 0 }],
    [`[0.1,0.30000000000000004,9007199254740991]`, [0.1, 0.30000000000000004, 9007199254740991]],
    [`{"a:b":"c:\\"d:"}`, { "a:b": 'c:"d:' }],
  ])("%s is read", (text, json) => {
    expect(print(text)).toEqual({ json });
    expect(print(text, "application/vnd.api+json; charset=utf-8")).toEqual({ json });
    expect(print(text, "text/plain;charset=UTF-8")).toEqual({ json });
  });

  it.each([
    ["not JSON", `{"a":`],
    ["a bare value", `"a"`],
    ["too deep", `${"[".repeat(5_000)}${"]".repeat(5_000)}`],
    ["too long", `["${"a".repeat(300_000)}"]`],
    ["a lone surrogate", `["\\ud800"]`],
  ])("%s is a digest", (_, text) => {
    expect(print(text)).toEqual({ sha256: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it("another content type is a digest", () => {
    expect(print(`{"a":1}`, "application/octet-stream")).toHaveProperty("sha256");
    expect(printBody(Uint8Array.of(0x5b, 0xff, 0x5d), "application/json")).toHaveProperty("sha256");
  });
});
