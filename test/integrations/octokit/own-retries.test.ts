import { Octokit } from "octokit";
import { describe, expect, it } from "vitest";
import type { Holdfire } from "../../../src/create.ts";
import { ownRetries } from "../../../src/integrations/octokit/index.ts";
import {
  type Answer,
  type CountingServer,
  type Failure,
  json,
} from "../../servers/counting-server.ts";
import { shortenPauses } from "../shared/client-timers.ts";
import { count, fire, openHoldfire, serve } from "../shared/owning.ts";

const quiet = () => {};
const optionsOf = ({ url }: CountingServer) => ({
  baseUrl: url,
  auth: "x",
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
});
/** Its throttle lets one write a second pass, counted over all clients of the process with the same id. */
const ownedOf = (server: CountingServer, hf: Holdfire, throttle: object = {}) =>
  new Octokit(ownRetries({ ...optionsOf(server), throttle: { id: server.url, ...throttle } }, hf));
const act = (octokit: Octokit, more: object = {}) => octokit.request("POST /things", { ...more });

const limited: Answer = (response) =>
  response.writeHead(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }).end("{}");

/** It has no timeout of its own: a service that hangs is left to the tool's. */
const failures: readonly Failure[] = ["503", "reset"];

describe.each(failures)("when the service fails by %s", (failure) => {
  it("one call is one request, also if the call asks for retries", async () => {
    const hf = openHoldfire();
    const call = (server: CountingServer) => act(ownedOf(server, hf), { request: { retries: 3 } });
    expect(await count(failure, call)).toBe(1);
  });

  it("a tool at three attempts is three requests", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    const octokit = ownedOf(server, hf);
    await fire(hf, 3, () => act(octokit)).catch(() => {});
    expect(server.arrivals).toHaveLength(3);
  });
});

it("without being owned it sends a POST again after a 503, and after a rate limit", async () => {
  shortenPauses(60_000);
  const at = { retry: { retryAfterBaseValue: 1 } };
  const open = (server: CountingServer) => new Octokit({ ...optionsOf(server), ...at });
  expect(await count("503", (server) => act(open(server)))).toBe(4);
  expect(await count(limited, (server) => act(open(server)))).toBe(2);
});

it("a rate limit is one request; the handlers hear of it and are not obeyed", async () => {
  const hf = openHoldfire();
  const heard: number[] = [];
  const throttle = {
    onRateLimit: (retryAfter: number) => {
      heard.push(retryAfter);
      return true;
    },
    onSecondaryRateLimit: () => true,
  };
  const call = (server: CountingServer) => act(ownedOf(server, hf, throttle));
  expect(await count(limited, call)).toBe(1);
  expect(heard).toEqual([0]);
});

it("what was given stays, and the answer comes through", async () => {
  const hf = openHoldfire();
  const server = await serve(json({ id: 1 }));
  const octokit = ownedOf(server, hf);
  expect((await act(octokit)).data).toEqual({ id: 1 });
  expect(server.arrivals[0]?.headers.authorization).toBe("token x");
});

it("a living client is refused, with the way to do it", () => {
  const hf = openHoldfire();
  expect(() => ownRetries(new Octokit(), hf)).toThrow(/new Octokit\(ownRetries/);
});
