import { request } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { fetch as undiciFetch } from "undici";
import { describe, expect, it } from "vitest";
import { networkVerdict } from "../../src/classify/network.ts";
import { closedPort, startService } from "../wire/servers.ts";
import { HOSTILE } from "./hostile.ts";

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

describe("networkVerdict of real failures", () => {
  it.each([
    ["native fetch", fetch],
    ["npm undici", undiciFetch],
  ] as const)("%s: a closed port is not_sent, a reset is unknown", async (_, anyFetch) => {
    const refused = await failure(anyFetch(`http://127.0.0.1:${await closedPort()}/`));
    expect(networkVerdict(refused)).toBe("not_sent");
    const { url } = await startService((incoming) => incoming.socket.destroy());
    expect(networkVerdict(await failure(anyFetch(url)))).toBe("unknown");
  });

  it("a name that does not resolve is not_sent", async () => {
    const lookup = (_: string, __: object, done: (error: Error) => void) =>
      done(Object.assign(new Error("lookup"), { code: "ENOTFOUND", syscall: "getaddrinfo" }));
    const error = await new Promise((resolve) => {
      request({ host: "name.invalid", lookup: lookup as never })
        .on("error", resolve)
        .end();
    });
    expect(networkVerdict(error)).toBe("not_sent");
  });

  it("a missing socket file is not_sent", async () => {
    const error = await new Promise((resolve) => {
      connect({ path: "/nonexistent/holdfire.sock" }).on("error", resolve);
    });
    expect(networkVerdict(error)).toBe("not_sent");
  });

  it("two addresses that both refuse are not_sent", async () => {
    const port = await closedPort();
    const lookup = (_: string, __: object, done: (error: null, all: object[]) => void) =>
      done(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ]);
    const error = await new Promise((resolve) => {
      request({ host: "both.invalid", port, lookup: lookup as never })
        .on("error", resolve)
        .end();
    });
    expect(error).toBeInstanceOf(AggregateError);
    expect(networkVerdict(error)).toBe("not_sent");
  });
});

describe("networkVerdict by code and syscall", () => {
  it.each([
    "ECONNREFUSED",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "EHOSTDOWN",
    "ENETDOWN",
    "EADDRNOTAVAIL",
    "ETIMEDOUT",
    "ENOENT",
    "EACCES",
  ])("%s is not_sent if it was connect that failed, and never otherwise", (code) => {
    expect(networkVerdict({ code, syscall: "connect" })).toBe("not_sent");
    expect(networkVerdict({ code, syscall: "read" })).not.toBe("not_sent");
    expect(networkVerdict({ code })).not.toBe("not_sent");
  });

  it.each(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"])("%s is not_sent if a lookup failed", (code) => {
    expect(networkVerdict({ code, syscall: "getaddrinfo" })).toBe("not_sent");
    expect(networkVerdict({ code })).toBeUndefined();
  });

  it.each([
    "UND_ERR_CONNECT_TIMEOUT",
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "CERT_REVOKED",
    "CERT_UNTRUSTED",
    "CERT_REJECTED",
    "CERT_SIGNATURE_FAILURE",
    "CERT_CHAIN_TOO_LONG",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_CRL",
    "INVALID_CA",
    "INVALID_PURPOSE",
    "HOSTNAME_MISMATCH",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_TLS_CERT_ALTNAME_FORMAT",
  ])("%s is not_sent", (code) => {
    expect(networkVerdict({ code })).toBe("not_sent");
  });

  it.each([
    "ECONNRESET",
    "ECONNABORTED",
    "EPIPE",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "UND_ERR_BODY_TIMEOUT",
  ])("%s is unknown", (code) => {
    expect(networkVerdict({ code, syscall: "read" })).toBe("unknown");
    expect(networkVerdict({ code })).toBe("unknown");
  });

  it.each(["ERR_TLS_RENEGOTIATION_DISABLED", "ERR_SSL_WRONG_VERSION_NUMBER", "EOTHER", 20])(
    "%s is no network failure that we know",
    (code) => {
      expect(networkVerdict({ code, syscall: "connect" })).toBeUndefined();
    },
  );

  it("never decides by message or name", () => {
    const error = Object.assign(new Error("connect ECONNREFUSED"), { name: "ECONNREFUSED" });
    expect(networkVerdict(error)).toBeUndefined();
  });
});

describe("networkVerdict along causes and parts", () => {
  const refused = { code: "ECONNREFUSED", syscall: "connect" };
  const reset = { code: "ECONNRESET" };

  it("finds the failure in the cause", () => {
    expect(networkVerdict(new Error("x", { cause: { cause: refused } }))).toBe("not_sent");
  });

  it("lets doubt beat proof, in either order", () => {
    expect(networkVerdict({ ...reset, cause: refused })).toBe("unknown");
    expect(networkVerdict({ ...refused, cause: reset })).toBe("unknown");
  });

  it("believes an aggregate only if all its parts were not sent", () => {
    expect(networkVerdict(new AggregateError([refused, refused]))).toBe("not_sent");
    expect(networkVerdict(new AggregateError([refused, reset]))).toBe("unknown");
    expect(networkVerdict(new AggregateError([refused, new Error("x")]))).toBe("unknown");
    expect(networkVerdict(new AggregateError([]))).toBeUndefined();
    expect(networkVerdict(new AggregateError([new Error("x")]))).toBeUndefined();
  });

  it("takes the parts' word over the code of the aggregate, which has no syscall", () => {
    const timeout = { code: "ETIMEDOUT", syscall: "connect" };
    const error = Object.assign(new AggregateError([timeout, { ...timeout }]), {
      code: "ETIMEDOUT",
    });
    expect(networkVerdict(error)).toBe("not_sent");
  });

  it("looks eight causes deep and no deeper", () => {
    const nest = (depth: number): object => (depth === 0 ? refused : { cause: nest(depth - 1) });
    expect(networkVerdict(nest(8))).toBe("not_sent");
    expect(networkVerdict(nest(9))).toBeUndefined();
  });

  it("ends on wide and deep aggregates that share their parts", () => {
    let layer: object = refused;
    for (let i = 0; i < 8; i += 1) layer = { errors: Array(1_000).fill(layer) };
    expect(networkVerdict(layer)).toBe("not_sent");
  });

  it.each(HOSTILE)("knows nothing of %s, and does not throw", (_, value) => {
    expect(networkVerdict(value)).toBeUndefined();
    expect(networkVerdict({ cause: value, errors: [value] })).toBeUndefined();
  });

  it("survives anything", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect([undefined, "unknown", "not_sent"]).toContain(networkVerdict(value));
      }),
      { seed: 7 },
    );
  });
});

describe("an aggregate that cannot be walked to its end", () => {
  it("holds itself many times over", () => {
    const error: { code: string; errors: unknown[] } = { code: "ECONNRESET", errors: [] };
    error.errors = Array(32).fill(error);
    expect(networkVerdict(error)).toBe("unknown");
  });

  it("makes new parts at every look", () => {
    const made = (): object => ({
      get errors() {
        return Array.from({ length: 32 }, made);
      },
    });
    expect(networkVerdict(made())).toBeUndefined();
    expect(networkVerdict({ errors: [{ code: "ECONNRESET" }, made()] })).toBe("unknown");
  });

  it("has too many parts: what was not looked at is no proof", () => {
    const refused = () => ({ code: "ECONNREFUSED", syscall: "connect" });
    const many = (length: number) => ({
      errors: Array.from({ length }, () => ({ errors: Array.from({ length: 31 }, refused) })),
    });
    expect(networkVerdict(many(7))).toBe("not_sent");
    expect(networkVerdict(many(8))).toBe("unknown");
  });

  it("is looked into eight levels deep and no deeper", () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? { code: "ECONNRESET" } : { errors: [nested(depth - 1)] };
    expect(networkVerdict(nested(8))).toBe("unknown");
    expect(networkVerdict(nested(9))).toBeUndefined();
  });
});
