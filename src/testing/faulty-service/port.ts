/**
 * The port a server listens on.
 *
 * @module
 */

import type { Server } from "node:net";

export function portOf(server: Server): number {
  const address = server.address();
  // A server that listens on TCP has an address with a port; Node's type also covers pipes.
  return typeof address === "object" && address !== null ? address.port : 0;
}
