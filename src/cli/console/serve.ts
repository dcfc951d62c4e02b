/**
 * The console on a port of this machine: only for this machine, under its own host names, for whoever has the token.
 *
 * The token travels in a header, not in a cookie: cookies of one port of this machine are sent to every other.
 *
 * @module
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Holdfire } from "../../api.ts";
import {
  type ConsoleOptions,
  type ConsolePerson,
  consoleHandler,
  nodeListener,
} from "../../console/index.ts";
import { FailedError } from "../command.ts";

export interface Served {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";

export async function serve(
  hf: Holdfire,
  {
    port,
    token,
    person,
  }: { readonly port: number; readonly token: string; readonly person: ConsolePerson },
): Promise<Served> {
  const server = createServer();
  server.listen(port, LOOPBACK);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = "Choose another with --port, or leave it out.";
    throw new FailedError(`Port ${port} cannot be used: ${why}`, { hint });
  }
  const { port: bound } = server.address() as AddressInfo;
  const hosts = [`${LOOPBACK}:${bound}`, `localhost:${bound}`];
  const authorize = authorizeByToken(token, person);
  server.on("request", nodeListener(consoleHandler(hf, { authorize, hosts })));
  return {
    address: `http://${hosts[0]}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Lets in whoever has the token, as one person. */
export function authorizeByToken(
  token: string,
  person: ConsolePerson,
): ConsoleOptions["authorize"] {
  const wanted = digestOf(`Bearer ${token}`);
  return ({ headers }) => {
    const given = digestOf(headers.get("authorization") ?? "");
    return timingSafeEqual(given, wanted) ? person : undefined;
  };
}

/** Of equal length, whatever was sent. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();
