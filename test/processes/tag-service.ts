/**
 * A service with one record whose tags are read and replaced as a whole: whoever writes what it read
 * a while ago wipes out what others wrote since.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface TagService {
  readonly url: string;
  tags(): readonly string[];
  /** How often the tags were replaced. */
  writes(): number;
  /** The most that read and wrote at a time. */
  most(): number;
  close(): Promise<void>;
}

export async function startTagService(): Promise<TagService> {
  let tags: readonly string[] = [];
  let writes = 0;
  let most = 0;
  const between = new Set<string>();
  const server = createServer((request, response) => {
    const by = request.headers["idempotency-key"];
    const who = typeof by === "string" ? by : "";
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (request.method === "PUT") {
        tags = JSON.parse(Buffer.concat(parts).toString("utf8")) as string[];
        writes += 1;
        between.delete(who);
      } else {
        between.add(who);
        most = Math.max(most, between.size);
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(tags));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/record`,
    tags: () => tags,
    writes: () => writes,
    most: () => most,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
