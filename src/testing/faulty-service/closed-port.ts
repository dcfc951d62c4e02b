/**
 * A port where nobody listens: the one fault a server cannot play.
 *
 * @module
 */

import { once } from "node:events";
import { createServer } from "node:net";
import { portOf } from "./port.ts";

/** A connection to this port on 127.0.0.1 is refused, until some other program takes it. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}
