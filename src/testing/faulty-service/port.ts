/**
 * The port a server listens on, and one where none listens: the one fault a server cannot simulate.
 *
 * @module
 */

import { once } from "node:events";
import { createServer, type Server } from "node:net";

export function portOf(server: Server): number {
  const address = server.address();
  // A server that listens on TCP has an address with a port; Node's type also covers pipes.
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A connection to this port on 127.0.0.1 is refused, until some other program takes it. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}
