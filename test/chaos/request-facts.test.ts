import { describe, expect, test } from "vitest";
import { factsOf, type Outgoing } from "../../src/chaos/watch/request-facts.ts";

const TOLD = { salt: "salt", match: [], ignore: [], modelHosts: [] };

const requestOf = (more: Partial<Omit<Outgoing, "body">> & { readonly body?: unknown } = {}) => {
  const { body = { cents: 400 }, ...given } = more;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method: "POST",
    origin: "https://api.bank.example",
    path: "/payouts",
    query: "",
    contentType: "application/json",
    ...given,
    body: Buffer.from(text),
  };
};

const kindOf = (more: Parameters<typeof requestOf>[0], told: Partial<typeof TOLD> | object = {}) =>
  factsOf(requestOf(more), { ...TOLD, ...told }).kind;

const rpc = (method: string, params: object = {}, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

describe("what counts as a write", () => {
  test.each([
    ["a POST", {}, "write"],
    ["a DELETE", { method: "DELETE", body: "" }, "write"],
    ["a GET", { method: "GET", body: "" }, "other"],
    ["a known provider", { origin: "https://api.openai.com", path: "/v1/files" }, "model"],
    ["what speaks like one", { path: "/v1/chat/completions", body: { messages: [] } }, "model"],
    ["what only has such a path", { path: "/v1/responses", body: { survey: 7 } }, "write"],
    [
      "a token",
      { contentType: "application/x-www-form-urlencoded", body: "grant_type=x" },
      "other",
    ],
    [
      "another form",
      { contentType: "application/x-www-form-urlencoded", body: "cents=4" },
      "write",
    ],
    ["telemetry", { path: "/v1/traces" }, "other"],
    ["a tool call over MCP", { body: rpc("tools/call", { name: "pay" }) }, "write"],
    ["another message of MCP", { body: rpc("tools/list") }, "other"],
  ] as const)("%s: %j", (_, request, expected) => {
    expect(kindOf(request)).toBe(expected);
  });

  test("patterns decide where they are given", () => {
    expect(kindOf({}, { ignore: ["/payouts"] })).toBe("other");
    expect(kindOf({}, { match: ["/refunds"] })).toBe("other");
    expect(kindOf({ method: "GET", body: "" }, { match: ["GET /payouts"] })).toBe("write");
    expect(kindOf({}, { match: ["POST"], ignore: ["/payouts"] })).toBe("other");
    expect(kindOf({}, { modelHosts: ["api.bank.example"] })).toBe("model");
  });
});

describe("which requests are the same", () => {
  const same = (more: Parameters<typeof requestOf>[0]) => factsOf(requestOf(more), TOLD).same;

  test("by method, path, query and body", () => {
    const all = [
      same({}),
      same({ method: "PUT" }),
      same({ path: "/refunds" }),
      same({ query: "?dry=1" }),
      same({ body: { cents: 401 } }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  test("the order of fields, another port and the id of a call make no difference", () => {
    expect(same({ body: '{"a":1,"b":2}' })).toBe(same({ body: '{ "b": 2, "a": 1 }' }));
    expect(same({ origin: "http://127.0.0.1:1" })).toBe(same({ origin: "http://127.0.0.1:2" }));
    const pay = { name: "pay", arguments: { cents: 4 } };
    expect(same({ body: rpc("tools/call", pay, 1) })).toBe(
      same({ body: rpc("tools/call", { ...pay, _meta: { progressToken: 7 } }, 2) }),
    );
    const part = (boundary: string) => ({
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: `--${boundary}\r\n\r\n4\r\n--${boundary}--`,
    });
    expect(same(part("x1"))).toBe(same(part("x2")));
  });

  test("nothing of a body, a key or a query is in the facts", () => {
    const secret = "s3cr3t";
    const facts = factsOf(
      requestOf({ query: `?token=${secret}`, key: secret, body: { note: secret } }),
      TOLD,
    );
    expect(JSON.stringify(facts)).not.toContain(secret);
    expect(facts.key).toBe(factsOf(requestOf({ key: secret }), TOLD).key);
    expect(facts.same).not.toBe(
      factsOf(requestOf({ query: `?token=${secret}`, body: { note: secret } }), {
        ...TOLD,
        salt: "another",
      }).same,
    );
  });
});

test("a conversation is known by its length, or by what it goes on from", () => {
  const model = (body: object) => factsOf(requestOf({ path: "/v1/responses", body }), TOLD);
  expect(model({ input: [1, 2] })).toMatchObject({ messages: 2, continues: undefined });
  expect(model({ input: [1], previous_response_id: "r1" }).continues).toBe(true);
  expect(model({ messages: [1], thread: { type: "continue" } }).continues).toBe(true);
});
