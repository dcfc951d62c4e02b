/**
 * A `fetch` that does not write twice.
 *
 * GET, HEAD and OPTIONS are reads, retried by holdfire alone. Any other request is an operation: it needs
 * a scope, carries a key, and is sent again only under a licence. What comes back is a real `Response`.
 *
 * Subpath export `"holdfire/fetch"`.
 *
 * @module
 */

import { inside } from "../../engine/engine-of.ts";
import type { Holdfire } from "../../holdfire.ts";
import { type Fetch, guardedFetch } from "../../wire/guarded-fetch.ts";
import { type FetchOptions, settingsOf } from "./options.ts";
import { sendRead } from "./read.ts";
import type { Outgoing } from "./redirects.ts";
import { prepare } from "./request.ts";
import { sendWrite } from "./write.ts";

export { type Fetch, guardedFetch } from "../../wire/guarded-fetch.ts";
export type { BodyPrint } from "./body-print.ts";
export type { FetchArguments, FetchOptions, FetchPolicy, FetchRequest } from "./options.ts";

const READS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns a drop-in for `fetch`, for your own requests and for any SDK that takes one. Say in the options
 * what the service promises; without that, a write whose reply is lost stays unknown.
 *
 * @example
 * ```ts
 * const fetch = createFetch(hf, { keyed: { forMs: 24 * 3_600_000 } });
 * await hf.scope("order-7", () => fetch("https://api.example/charges", { method: "POST", body }));
 * ```
 */
export function createFetch(hf: Holdfire, options: FetchOptions = {}): Fetch {
  const { clock } = inside(hf);
  const settings = settingsOf(options);
  const transport = guardedFetch(settings.fetch);
  return async (input, init) => {
    const prepared = await prepare(input, init, settings, clock);
    const { request, rest } = prepared;
    const policy = settings.policyFor(request);
    const kind = policy.kind ?? (READS.has(request.method) ? "read" : "write");
    const send = (signal: AbortSignal) => (outgoing: Outgoing) => {
      const { method, url, headers, body } = outgoing;
      const sent = { ...rest, method, headers, redirect: "manual", signal } as const;
      return transport(url, body ? { ...sent, body } : sent);
    };
    return kind === "read"
      ? sendRead(prepared, policy, settings, send, hf)
      : sendWrite(prepared, { ...policy, kind }, settings, send, hf);
  };
}
