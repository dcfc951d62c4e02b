/** What is done for the `fetch` of Bun and Deno. Both are tried in `npm run runtimes`; here they are stand-ins. */
import { describe, expect, test } from "vitest";
import { onOwnConnection, showsFetch } from "../../src/wire/platform-fetch.ts";

const platform = (versions: object, more: object = {}) => ({ process: { versions }, ...more });
const BUN = platform({ node: "26.3.0", bun: "1.4.4" });

function deno() {
  const made: unknown[] = [];
  const createHttpClient = (options: unknown) => made.push(options) && { options };
  return { made, platform: platform({ node: "26.3.0" }, { Deno: { createHttpClient } }) };
}

describe("requests of the platform's own fetch", () => {
  test("are shown by Node, not by Bun and Deno", () => {
    expect(showsFetch()).toBe(true);
    expect(showsFetch(BUN)).toBe(false);
    expect(showsFetch(deno().platform)).toBe(false);
  });
});

describe("a write", () => {
  test("is left as it is on Node", () => {
    const init = { method: "POST" };
    expect(onOwnConnection(true, init)).toBe(init);
    expect(onOwnConnection(true, undefined)).toBeUndefined();
  });

  test("has a connection of its own", () => {
    const init = { method: "POST" };
    expect(onOwnConnection(true, init, BUN)).toEqual({ ...init, keepalive: false });
    expect(onOwnConnection(true, undefined, BUN)).toEqual({ keepalive: false });
    const client = { options: { poolMaxIdlePerHost: 0 } };
    expect(onOwnConnection(true, init, deno().platform)).toEqual({ ...init, client });
  });

  test("shares the client with others, not the connection", () => {
    const { made, platform } = deno();
    onOwnConnection(true, {}, platform);
    onOwnConnection(true, {}, platform);
    expect(made).toHaveLength(1);
  });

  test("is sent as it is where a Deno has no such client", () => {
    const init = { method: "POST" };
    expect(onOwnConnection(true, init, platform({}, { Deno: {} }))).toBe(init);
  });
});

test("a read keeps its connection", () => {
  const init = { method: "GET" };
  for (const one of [BUN, deno().platform]) expect(onOwnConnection(false, init, one)).toBe(init);
});
