/**
 * A bank that pays whatever it is sent and counts it, and the small programs that send to it, under `holdfire chaos`.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { Report } from "../../src/cli/chaos/report.ts";
import { type Ended, start } from "../cli/start.ts";
import { selfSigned } from "../wire/self-signed.ts";

export interface Bank extends AsyncDisposable {
  readonly url: string;
  /** How many writes have arrived. */
  arrivals(): number;
  run(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly exitCode: number | null; readonly arrivals: number }>;
}

/** `isSecure`: over TLS, in HTTP/2 and HTTP/1.1 as the client likes. */
export async function startBank(isSecure = false): Promise<Bank> {
  let arrivals = 0;
  const pay = (request: IncomingMessage, response: ServerResponse) => {
    request.resume().on("end", () => {
      if (request.method !== "GET" && request.url !== "/token") arrivals += 1;
      response.writeHead(200, { "content-type": "application/json" }).end('{"id":"po_1"}');
    });
  };
  const server = isSecure
    ? createSecureServer({ ...selfSigned(), allowHTTP1: true }, pay as never)
    : createServer(pay);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http${isSecure ? "s" : ""}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals: () => arrivals,
    async run(argv, env) {
      const child = spawn(process.execPath, argv, { env: { ...process.env, ...env } });
      const exitCode = await new Promise<number | null>((done) => child.once("close", done));
      return { exitCode, arrivals };
    },
    async [Symbol.asyncDispose]() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export interface SmallTest extends Ended {
  /** With `--json`. */
  readonly report: Report | undefined;
  readonly arrivals: number;
}

/** Runs a small agent; what is printed has the name of a bank in the place of an address. */
export async function testSmallAgent(
  name: string,
  ...options: readonly string[]
): Promise<SmallTest> {
  await using bank = await startBank(name.endsWith("_tls"));
  const agent = [process.execPath, resolve("test/chaos/small-agent.ts"), name, bank.url];
  const { exitCode, out, err } = await start(["chaos", ...options, "--", ...agent], process.cwd(), {
    // The bank over TLS has made its certificate itself.
    ...(name.endsWith("_tls") ? { NODE_TLS_REJECT_UNAUTHORIZED: "0" } : {}),
  });
  const report: Report | undefined = options.includes("--json") ? JSON.parse(out) : undefined;
  const named = out
    .replaceAll(bank.url, "https://api.bank.example")
    .replaceAll("test/chaos/small-agent.ts", "agent.ts");
  return { exitCode, out: named, err, report, arrivals: bank.arrivals() };
}
