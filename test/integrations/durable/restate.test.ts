/** A step that Restate runs again replays: a real restate-server, on ports of its own. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as restate from "@restatedev/restate-sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../../src/create.ts";
import { scopeFrom } from "../../../src/integrations/durable/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";

const binary = binaryOf(`@restatedev/restate-server-${process.platform}-${process.arch}`);

function binaryOf(name: string): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve(`${name}/bin/restate-server`);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The addresses of a server that is ready. */
async function startRestate(path: string) {
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), "holdfire-restate-"));
  const child = spawn(path, ["--no-logo", "--base-dir", join(folder, "data")], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PATH: process.env.PATH,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_DEFAULT_NUM_PARTITIONS: "1",
    },
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const isUp = (url: string) =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  const patience = { timeout: 60_000, interval: 200 };
  await expect.poll(() => isUp(`http://127.0.0.1:${admin}/health`), patience).toBe(true);
  await expect.poll(() => isUp(`http://127.0.0.1:${ingress}/restate/health`), patience).toBe(true);
  return { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
}

describe.skipIf(!binary)("Restate", () => {
  test("a step that failed after its effect is run again, and replays", async () => {
    const { ingress, admin } = await startRestate(binary ?? "");
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
