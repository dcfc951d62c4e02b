import got, { type Got, type OptionsInit } from "got";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/got/index.ts";
import { type CountingServer, FAILURES, json } from "../../servers/counting-server.ts";
import { count, fire, openHoldfire, serve } from "../shared/owning.ts";

const act = (client: Got, { url, patienceMs }: CountingServer, more: OptionsInit = {}) =>
  client.put(url, { json: {}, timeout: { request: patienceMs }, ...more }).text();

const asks: OptionsInit = { retry: { limit: 3, calculateDelay: () => 1 } };

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it("one call is one request, also if the call or the instance asks for retries", async () => {
    const hf = openHoldfire();
    expect(await count(failure, (server) => act(ownRetries(got, hf), server))).toBe(1);
    expect(await count(failure, (server) => act(ownRetries(got, hf), server, asks))).toBe(1);
    const stubborn = got.extend(asks);
    expect(await count(failure, (server) => act(ownRetries(stubborn, hf), server))).toBe(1);
  });

  it("what is made of the owned instance is owned", async () => {
    const client = ownRetries(got, openHoldfire()).extend(asks);
    expect(await count(failure, (server) => act(client, server))).toBe(1);
  });

  it("a tool at three attempts is three requests", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    const client = ownRetries(got, hf);
    await fire(hf, 3, () => act(client, server)).catch(() => {});
    expect(server.arrivals).toHaveLength(3);
  });
});

it("without being owned it sends again", async () => {
  const soon: OptionsInit = { retry: { limit: 2, backoffLimit: 1 } };
  expect(await count("503", (server) => act(got, server, soon))).toBe(3);
});

it("what a hook sends again on purpose is sent", async () => {
  const server = await serve((response, { headers }) =>
    response.writeHead(headers.authorization === "new" ? 200 : 401).end("done"),
  );
  const client = ownRetries(got, openHoldfire()).extend({
    hooks: {
      afterResponse: [
        (response, again) =>
          response.statusCode === 401 ? again({ headers: { authorization: "new" } }) : response,
      ],
    },
  });
  expect(await act(client, server)).toBe("done");
  expect(server.arrivals).toHaveLength(2);
});

it("a success comes through", async () => {
  const server = await serve(json({ ok: true }));
  expect(await act(ownRetries(got, openHoldfire()), server)).toBe(`{"ok":true}`);
});
