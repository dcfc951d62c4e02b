import { describe, expect, it } from "vitest";
import { headerIn, locate, mayFollow, redirectTarget } from "../../src/wire/redirect.ts";

describe("locate", () => {
  it("keeps the query out of the path and in the address that is compared", () => {
    expect(locate("http://a.example", "/pay?token=secret#x")).toEqual({
      origin: "http://a.example",
      path: "/pay",
      href: "http://a.example/pay?token=secret",
    });
  });

  it("takes a path that starts with two slashes for a path", () => {
    expect(locate("http://a.example", "//b.example/x")).toMatchObject({
      origin: "http://a.example",
      path: "//b.example/x",
    });
  });

  it("takes a whole URL in the request line, as proxies get it, for the address", () => {
    expect(locate("http://proxy.example", "http://a.example/x?y")).toMatchObject({
      origin: "http://a.example",
      path: "/x",
    });
  });

  it("drops a default port", () => {
    expect(locate("https://a.example:443", "/").origin).toBe("https://a.example");
  });

  it("cuts a long path", () => {
    expect(locate("http://a.example", `/${"x".repeat(9_000)}`).path).toHaveLength(512);
  });

  it("survives an address that is none", () => {
    expect(locate("undefined", "*?secret")).toEqual({
      origin: "undefined",
      path: "*",
      href: "*?secret",
    });
  });
});

describe("redirectTarget", () => {
  it.each([301, 302, 303, 307, 308])("resolves the location of a %i", (status) => {
    expect(redirectTarget("http://a.example/x/y?z", status, "../to?q#part")).toBe(
      "http://a.example/to?q",
    );
  });

  it.each([200, 201, 300, 304, 404])("is none for a %i", (status) => {
    expect(redirectTarget("http://a.example/", status, "/to")).toBeUndefined();
  });

  it("is none without a location, or with one that is no address", () => {
    expect(redirectTarget("http://a.example/", 302, undefined)).toBeUndefined();
    expect(redirectTarget("http://a.example/", 302, "http://[")).toBeUndefined();
  });
});

describe("mayFollow", () => {
  it.each([
    [303, "POST", "GET", true],
    [303, "PUT", "GET", true],
    [303, "PUT", "POST", false],
    [301, "POST", "GET", true],
    [302, "POST", "GET", true],
    [302, "PUT", "GET", false],
    [302, "POST", "DELETE", false],
    [307, "POST", "POST", true],
    [307, "POST", "GET", false],
    [308, "PUT", "PUT", true],
  ] as const)("%i after %s, then %s: %s", (status, method, next, may) => {
    expect(mayFollow(status, method, next)).toBe(may);
  });
});

describe("locationIn", () => {
  it("finds it in a flat list of buffers or strings, and in an object", () => {
    expect(
      headerIn(
        ["Location", "/a"].map((text) => Buffer.from(text)),
        "location",
      ),
    ).toBe("/a");
    expect(headerIn(["x", "location", "LOCATION", "/b"], "location")).toBe("/b");
    expect(headerIn({ location: "/c" }, "location")).toBe("/c");
  });

  it("does not take a value for a name", () => {
    expect(headerIn(["x-next", "location", "x-other", "/b"], "location")).toBeUndefined();
  });

  it("finds nothing in nothing", () => {
    expect(headerIn(undefined, "location")).toBeUndefined();
    expect(headerIn(["location"], "location")).toBeUndefined();
  });
});
