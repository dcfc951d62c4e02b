/**
 * Takes in a request's body, up to a limit.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";

/** The largest body the service takes, in bytes. */
const LARGEST = 2 ** 20;

/** Returns `undefined` if the body is too large. Rejects if the client leaves in the middle of it. */
export async function receive(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The rest of a body too large is read and thrown away: the client sends it all before it listens.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LARGEST) chunks.push(chunk);
  }
  return size <= LARGEST ? Buffer.concat(chunks).toString("utf8") : undefined;
}
