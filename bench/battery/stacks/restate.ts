/**
 * Restate: a service whose handler does the call in `ctx.run`, with a key from `ctx.rand.uuidv4()` as its documentation
 * advises, and a `TerminalError` for an answer that a repetition does not change. The host calls it through the ingress
 * with an idempotency key. What fails is tried again for as long as it takes.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as restate from "@restatedev/restate-sdk";
import {
  type Ask,
  done,
  failed,
  keyOf,
  type Place,
  type Stack,
  type Tool,
  unknown,
} from "../stack.ts";
import { isRefusal, orderFrom, placeOrder } from "../tool-body.ts";

interface Wanted {
  readonly tool: Tool;
  readonly ask: Ask;
}

async function order(ctx: restate.Context, { tool, ask }: Wanted) {
  const key = ctx.rand.uuidv4();
  return ctx.run("order", async () => {
    try {
      return await placeOrder(tool, orderFrom(ask), { key });
    } catch (error) {
      if (isRefusal(error)) throw new restate.TerminalError(String(error));
      throw error;
    }
  });
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const serviceOf = ({ ledger }: Place): string => `orders_${digest(ledger).slice(0, 16)}`;

let served: Promise<void> | undefined;

/** The endpoint of this process. One that was killed comes back on its old port, where Restate looks for it. */
async function serve(place: Place): Promise<void> {
  const service = restate.service({ name: serviceOf(place), handlers: { order } });
  const handler = restate.createEndpointHandler({ services: [service], logger: () => {} });
  const endpoint = createServer(handler as never);
  const file = join(place.folder, `${digest(place.ledger).slice(0, 16)}.port`);
  const port = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  const listening = await new Promise<boolean>((resolve) => {
    endpoint.once("error", () => resolve(false));
    endpoint.listen(port, "127.0.0.1", () => resolve(true));
  });
  // The endpoint is at work in another process: this one is a host that calls it through the ingress.
  if (!listening) return;
  const uri = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  if (port > 0) return;
  writeFileSync(file, String((endpoint.address() as AddressInfo).port));
  const registered = await post(`${place.restate?.admin}/deployments`, { uri });
  if (!registered.ok) throw new Error(`Restate did not take the endpoint: ${registered.status}.`);
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

export const stack: Stack = {
  name: "Restate ctx.run",
  says: "a Restate handler with one ctx.run; key by ctx.rand.uuidv4(), idempotency key at the ingress",
  packages: ["@restatedev/restate-sdk", "@restatedev/restate-server"],
  reads: false,
  isHoldfire: false,
  needs: ["restate"],
  async setUp(tool, place) {
    served ??= serve(place);
    await served;
    const base = `${place.restate?.ingress}`;
    const keyAt = (ask: Ask): string => digest(`${place.name}/${keyOf(ask)}`);
    return {
      async call(ask) {
        try {
          const key = { "idempotency-key": keyAt(ask) };
          const reply = await post(`${base}/${serviceOf(place)}/order`, { tool, ask }, key);
          const text = await reply.text();
          return reply.ok ? done() : failed(new Error(text));
        } catch (error) {
          return unknown(error);
        }
      },
      // An invocation that was left is gone on with by the server: nothing is left to ask for.
      async reconcile() {},
      async standing(ask) {
        const url = `${base}/restate/invocation/${serviceOf(place)}/order/${keyAt(ask)}/output`;
        const { status } = await fetch(url);
        if (status === 200) return "done";
        if (status === 470) return "unknown";
        return status === 404 ? undefined : "failed";
      },
      async close() {},
    };
  },
};
