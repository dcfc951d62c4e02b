/** A step that Restate runs again replays: a real restate-server, on ports of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as restate from "@restatedev/restate-sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../../src/create.ts";
import { scopeFrom } from "../../../src/integrations/durable/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { type Restate, restateBinary, startRestate } from "../../servers/restate.ts";

/** The addresses of a server that is ready. */
async function started(): Promise<Restate> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-restate-"));
  const server = await startRestate(folder);
  onTestFinished(async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });
  return server;
}

describe.skipIf(!restateBinary())("Restate", () => {
  test("a step that failed after its effect is run again, and replays", async () => {
    const { ingress, admin } = await started();
    const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
    onTestFinished(() => hf.close());
    const effects: number[] = [];
    const scopes: string[] = [];
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async ({ cents }: { cents: number }) => {
        effects.push(cents);
        return { receipt: effects.length };
      },
    });
    const payments = restate.service({
      name: "payments",
      handlers: {
        pay: async (ctx: restate.Context, cents: number) => {
          const scope = scopeFrom.restate(ctx, "pay");
          return ctx.run("pay", async () => {
            scopes.push(scope);
            const paid = await hf.scope(scope, () => pay({ cents }));
            if (scopes.length % 2 === 1) throw new Error("after the payment");
            return paid;
          });
        },
      },
    });
    const handler = restate.createEndpointHandler({ services: [payments], logger: () => {} });
    const endpoint = createHttp2Server(handler as never);
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void endpoint.close());
    const uri = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
    const send = (url: string, body: unknown) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await send(`${admin}/deployments`, { uri })).status).toBe(201);

    const first = await send(`${ingress}/payments/pay`, 400);
    expect(await first.json()).toEqual({ receipt: 1 });
    expect(scopes).toHaveLength(2);
    expect(new Set(scopes).size).toBe(1);
    expect(effects).toEqual([400]);

    // Another invocation is another request.
    const second = await send(`${ingress}/payments/pay`, 400);
    expect(await second.json()).toEqual({ receipt: 2 });
    expect(effects).toEqual([400, 400]);
    expect(new Set(scopes).size).toBe(2);
  }, 120_000);
});
