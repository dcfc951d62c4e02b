/** What `run` of a tool whose requests are seen can do: by the attempt's own `fetch`, or by a client of its own. */

import type { AttemptContext } from "../../../src/engine/define/definition.ts";
import type { Chance } from "./chance.ts";
import type { Host } from "./clock.ts";
import type { Fate } from "./fates.ts";
import { ORIGINS, startThread } from "./http.ts";
import type { Means } from "./manners.ts";
import type { Answered, Network, Wish } from "./network.ts";

/** A job is started in the async context of whoever asked first. */
export type Queue = <T>(job: () => Promise<T>) => Promise<T>;

export interface Wires {
  readonly network: Network;
  readonly host: Host;
  readonly chance: Chance;
  readonly queue: Queue;
}

export function meansOf(
  { network, host, chance, queue }: Wires,
  wish: Wish,
  fate: Fate,
  /** If it is to send by the attempt's own `fetch`. */
  context: AttemptContext | undefined,
): Means {
  const request = () => network.request(wish, fate);
  // Where the service is, or elsewhere.
  const origin = chance.next() < 0.5 ? "service" : "audit";
  const audit = (how: number | "refused") => network.notify(host, origin, how);
  const through = context && fetchThrough(context);
  return {
    pay: through ? () => through(ORIGINS.service, "/pay", request) : request,
    payUnseen: () => network.send(wish, fate),
    notify: (how) => (through ? through(ORIGINS[origin], "/notify", () => audit(how)) : audit(how)),
    startThread,
    enqueue: queue,
    wait: (ms) => new Promise((resolve) => void host.clock.after(ms, resolve)),
    between: chance.between,
  };
}

/** Sends by `context.fetch`, which sends by `send`. */
function fetchThrough(context: AttemptContext) {
  return async (origin: string, path: string, send: () => Promise<unknown>): Promise<Answered> => {
    let answered: Answered | undefined;
    const fetch = onTopOf(context, async () => {
      answered = (await send()) as Answered;
      return new Response(null, { status: answered.status });
    });
    const { status } = await fetch(`${origin}${path}`, { method: "POST", body: "{}" });
    if (answered?.status !== status) throw new Error("another request's answer");
    return answered;
  };
}

/** The attempt's own `fetch` is made on top of the platform's. */
function onTopOf(context: AttemptContext, fetch: typeof globalThis.fetch) {
  const { fetch: platform } = globalThis;
  globalThis.fetch = fetch;
  try {
    return context.fetch;
  } finally {
    globalThis.fetch = platform;
  }
}
