/**
 * Restate: a handler with one `ctx.run`, called over its ingress under an idempotency key. The server
 * is that of `@restatedev/restate-server`, started here and ended with this process.
 *
 * @module
 */

import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import * as restate from "@restatedev/restate-sdk";
import { startRestate } from "../../../test/servers/restate.ts";
import { type Effect, type OpenGuard, type Order, type Receipt, requestOf } from "../guard.ts";

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Started once in a process, and left running between rounds. */
let launched: Promise<string> | undefined;

async function launch(effect: Effect, folder: string): Promise<string> {
  const { ingress, admin } = await startRestate(folder);
  const orders = restate.service({
    name: "orders",
    handlers: {
      place: (ctx: restate.Context, order: Order) => ctx.run("place", () => effect(order)),
    },
  });
  const handler = restate.createEndpointHandler({ services: [orders], logger: () => {} });
  const endpoint = createHttp2Server(handler as never);
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const uri = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  const { status } = await post(`${admin}/deployments`, { uri });
  if (status !== 201) throw new Error(`Restate did not take the handler: ${status}.`);
  return `${ingress}/orders/place`;
}

export const open: OpenGuard = async (effect, { folder }) => {
  launched ??= launch(effect, folder);
  const url = await launched;
  return {
    async call(order) {
      const answer = await post(url, order, { "idempotency-key": requestOf(order) });
      if (!answer.ok) throw new Error(`Restate answered ${answer.status}.`);
      return (await answer.json()) as Receipt;
    },
    async close() {},
  };
};
