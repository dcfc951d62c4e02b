import ky, { type KyInstance, type Options } from "ky";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/ky/index.ts";
import { type CountingServer, FAILURES, json } from "../../servers/counting-server.ts";
import { count, fire, openHoldfire, serve } from "../shared/owning.ts";

const act = (client: KyInstance, { url, patienceMs }: CountingServer, more: Options = {}) =>
  client.put(url, { json: {}, timeout: patienceMs, ...more }).text();

const asks: Options = { retry: { limit: 3, retryOnTimeout: true, delay: () => 1 } };

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it("one call is one request, also if the call or the instance asks for retries", async () => {
    const hf = openHoldfire();
    expect(await count(failure, (server) => act(ownRetries(ky, hf), server))).toBe(1);
    expect(await count(failure, (server) => act(ownRetries(ky, hf), server, asks))).toBe(1);
    const stubborn = ky.extend(asks);
    expect(await count(failure, (server) => act(ownRetries(stubborn, hf), server))).toBe(1);
  });

  it("what is made of the owned instance is owned", async () => {
    const client = ownRetries(ky, openHoldfire()).extend(asks);
    expect(await count(failure, (server) => act(client, server))).toBe(1);
  });

  it("a tool at three attempts is three requests", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    const client = ownRetries(ky, hf);
    await fire(hf, 3, () => act(client, server)).catch(() => {});
    expect(server.arrivals).toHaveLength(3);
  });
});

it("without being owned it sends again", async () => {
  expect(await count("503", (server) => act(ky, server, asks))).toBe(4);
});

it("a success comes through", async () => {
  const server = await serve(json({ ok: true }));
  expect(await act(ownRetries(ky, openHoldfire()), server)).toBe(`{"ok":true}`);
});
