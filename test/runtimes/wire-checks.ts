/**
 * What holds of requests on every runtime, also where the platform's own `fetch` is not seen and sends again by
 * itself: a write through `context.fetch` arrives once and is judged by its answer, and where something may be
 * unseen a failure proves nothing.
 *
 * @module
 */

import { deepStrictEqual, strictEqual } from "node:assert";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createHoldfire } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import type { TestRunner } from "../../src/testing/index.ts";
import { showsFetch } from "../../src/wire/platform-fetch.ts";

interface Service {
  readonly url: string;
  /** Of requests that were not answered, or that ask to be counted. */
  readonly arrivals: string[];
  close(): Promise<void>;
}

/** Answers what the path says; at `/reset` it breaks the connection in place of an answer. */
async function startService(): Promise<Service> {
  const arrivals: string[] = [];
  const server: Server = createServer((incoming, response) => {
    const { method = "", url = "" } = incoming;
    if (url !== "/200") arrivals.push(`${method} ${url}`);
    incoming.resume().on("end", () => {
      if (url === "/reset") incoming.socket.destroy();
      else response.writeHead(Number(url.slice(1)), { "content-type": "text/plain" }).end("said");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

type Run = (context: { readonly fetch: typeof fetch }, service: Service) => Promise<unknown>;

async function outcomeOf(run: Run, via: "http" | undefined) {
  const service = await startService();
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  try {
    const tool = hf.tool({
      name: "pay",
      kind: "write",
      ...(via && { via }),
      attempts: 1,
      run: (_: object, context) => run(context, service),
    });
    const { status } = await tool.outcome({}, { scope: "s" });
    return { status, arrivals: service.arrivals };
  } finally {
    await hf.close();
    await service.close();
  }
}

/** Connections of the platform's `fetch` that are open and idle. */
async function warm({ url }: Service): Promise<void> {
  for (let n = 0; n < 3; n += 1) await (await fetch(`${url}/200`, { method: "POST" })).text();
}

/** By node:http, to a port where nothing listens. */
const refused = (): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port: 9, method: "POST" }, resolve);
    outgoing.on("error", reject).end();
  });

export function wireChecks({ describe, test }: TestRunner): void {
  describe("context.fetch", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      test(`${method} on a connection that breaks arrives once`, async () => {
        const { status, arrivals } = await outcomeOf(async (context, service) => {
          await warm(service);
          return context.fetch(`${service.url}/reset`, { method, body: "x" });
        }, "http");
        deepStrictEqual(
          { status, arrivals },
          { status: "unknown", arrivals: [`${method} /reset`] },
        );
      });
    }

    test("is judged by the answer: a 503 that run swallows is unknown, a 404 is not applied", async () => {
      const swallow = (path: string) =>
        outcomeOf(async ({ fetch }, { url }) => {
          await fetch(url + path, { method: "POST" });
          return "done";
        }, "http");
      strictEqual((await swallow("/503")).status, "unknown");
      strictEqual((await swallow("/404")).status, "not_applied");
    });

    test("a refused connection is not sent only where the platform says so in a code", async () => {
      const { status } = await outcomeOf(
        // A port that a server has just left; some others are refused by `fetch` itself.
        async ({ fetch }, service) => {
          await service.close();
          return fetch(`${service.url}/200`, { method: "POST" });
        },
        "http",
      );
      strictEqual(status, showsFetch() ? "not_applied" : "unknown");
    });
  });

  describe("node:http", () => {
    test("a refused connection is not sent only where every request would be seen", async () => {
      const { status } = await outcomeOf(() => refused(), undefined);
      strictEqual(status, showsFetch() ? "not_applied" : "unknown");
    });
  });
}
