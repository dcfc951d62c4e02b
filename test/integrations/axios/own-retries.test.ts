import axios, { type AxiosInstance } from "axios";
import axiosRetry, { type IAxiosRetryConfig } from "axios-retry";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/axios/index.ts";
import { type CountingServer, FAILURES, json } from "../../servers/counting-server.ts";
import { count, fire, openHoldfire, serve } from "../shared/owning.ts";

/** Everything is worth a retry, so that what is counted is the count alone. */
const always: IAxiosRetryConfig = {
  retries: 3,
  retryCondition: () => true,
  shouldResetTimeout: true,
};
const clientOf = ({ url, patienceMs }: CountingServer) =>
  axios.create({ baseURL: url, timeout: patienceMs });
const act = (client: AxiosInstance, more: object = {}) => client.post("/pay", {}, more);

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it.each([
    [
      "applied before",
      (client: AxiosInstance) => {
        axiosRetry(client, always);
        return ownRetries(client, openHoldfire());
      },
    ],
    [
      "applied after",
      (client: AxiosInstance) => {
        ownRetries(client, openHoldfire());
        axiosRetry(client, always);
        return client;
      },
    ],
    ["never applied", (client: AxiosInstance) => ownRetries(client, openHoldfire())],
  ])("one call is one request, with axios-retry %s", async (_, own) => {
    const asks = { "axios-retry": { retries: 3 } };
    expect(await count(failure, (server) => act(own(clientOf(server))))).toBe(1);
    expect(await count(failure, (server) => act(own(clientOf(server)), asks))).toBe(1);
  });

  it("a tool at three attempts is three requests", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    const client = clientOf(server);
    axiosRetry(client, always);
    ownRetries(client, hf);
    await fire(hf, 3, () => act(client)).catch(() => {});
    expect(server.arrivals).toHaveLength(3);
  });
});

it("without being owned it sends again, POST included", async () => {
  const call = (server: CountingServer) => {
    const client = clientOf(server);
    axiosRetry(client);
    return act(client);
  };
  expect(await count("reset", call)).toBe(4);
});

it("the error is axios's own, and a success comes through", async () => {
  const hf = openHoldfire();
  const server = await serve((response, arrival, nth) =>
    nth === 1 ? response.writeHead(503).end() : json({ ok: true })(response, arrival, nth),
  );
  const client = clientOf(server);
  axiosRetry(client);
  expect(ownRetries(ownRetries(client, hf), hf)).toBe(client);
  await expect(act(client)).rejects.toMatchObject({ response: { status: 503 } });
  expect((await act(client)).data).toEqual({ ok: true });
});
