import { describe, expect, it } from "vitest";
import {
  createToken,
  currentToken,
  repeats,
  requestsOf,
  runWithoutToken,
  runWithToken,
  wireFacts,
} from "../../src/wire/token.ts";
import { attempt, startService } from "./servers.ts";

describe("the token", () => {
  it("is there inside, also after an await, and nowhere else", async () => {
    const token = createToken({ operationId: "o", attempt: 2 });
    expect(currentToken()).toBeUndefined();
    await runWithToken(token, async () => {
      expect(currentToken()).toBe(token);
      await Promise.resolve();
      expect(currentToken()).toBe(token);
    });
    expect(currentToken()).toBeUndefined();
    expect(token).toMatchObject({ operationId: "o", attempt: 2 });
    expect(requestsOf(token)).toMatchObject([]);
  });

  it("gives back what the function returns and throws what it throws", () => {
    const token = createToken({ operationId: "o", attempt: 1 });
    expect(runWithToken(token, () => 7)).toBe(7);
    expect(() =>
      runWithToken(token, () => {
        throw new RangeError("x");
      }),
    ).toThrow(RangeError);
  });

  it("counts a request on the innermost token only", async () => {
    const service = await startService((_, response) => response.end());
    const inner = createToken({ operationId: "inner", attempt: 1 });
    const { token: outer } = await attempt(async () => {
      await fetch(`${service.url}/outer`);
      await runWithToken(inner, () => fetch(`${service.url}/inner`));
      await fetch(`${service.url}/outer-again`);
    });
    expect(requestsOf(outer).map(({ path }) => path)).toEqual(["/outer", "/outer-again"]);
    expect(requestsOf(inner).map(({ path }) => path)).toEqual(["/inner"]);
  });

  it("counts nothing that runs without a token", async () => {
    const service = await startService((_, response) => response.end());
    const { token } = await attempt(async () => {
      await runWithoutToken(() => fetch(`${service.url}/reader`));
      await fetch(`${service.url}/mine`);
    });
    expect(requestsOf(token).map(({ path }) => path)).toEqual(["/mine"]);
  });

  it("does not count a request made before, even if it is awaited inside", async () => {
    const service = await startService((_, response) => response.end());
    const early = fetch(service.url);
    const { token } = await attempt(() => early);
    expect(wireFacts(token).wireRequests).toBe(0);
    expect(service.arrived).toHaveLength(1);
  });

  it("tells each of two parallel attempts its own requests", async () => {
    const service = await startService((_, response) => response.end());
    const runs = await Promise.all(
      ["/a", "/b", "/c"].map((path) =>
        attempt(async () => {
          await fetch(service.url + path, { method: "POST" });
          await fetch(service.url + path, { method: "POST" });
        }),
      ),
    );
    expect(runs.map(({ token }) => repeats(token))).toEqual(
      ["/a", "/b", "/c"].map((path) => [{ origin: service.url, method: "POST", path, count: 2 }]),
    );
    expect(runs.map(({ token }) => wireFacts(token).wireRequests)).toEqual([2, 2, 2]);
  });
});
