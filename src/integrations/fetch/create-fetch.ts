/**
 * A `fetch` that does not write twice.
 *
 * GET, HEAD and OPTIONS are reads, retried by holdfire alone, unless a policy says that they write. Any other request is
 * an operation: it needs a scope, carries a key, and is sent again only under a licence. What comes back is a real `Response`.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { isRetryableRead } from "../../classify/http.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { isHoldfireError } from "../../errors.ts";
import { attemptFetch } from "../../wire/bound-fetch.ts";
import { isSafe } from "../../wire/counter.ts";
import { follow, type Outgoing, type Send } from "../../wire/follow.ts";
import type { Fetch } from "../../wire/guarded-fetch.ts";
import { finalOf, responseOf } from "./answer.ts";
import {
  declarationsOf,
  type FetchOptions,
  type FetchPolicy,
  type Settings,
  settingsOf,
} from "./options.ts";
import { type Prepared, prepare } from "./request.ts";
import { sendWrite } from "./write.ts";

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
  const { clock } = engineOf(hf);
  const settings = settingsOf(options);
  return async (input, init) => {
    const preparing = prepare(input, init, settings, clock);
    // The policy is asked at once if it can be: what it looks up may stand for another request later.
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    const { request, rest } = prepared;
    const policy = settings.policyFor(request);
    const kind = policy.kind ?? (isSafe(request.method) ? "read" : "write");
    const send = (signal: AbortSignal) => {
      const transport = attemptFetch(settings.fetch, kind === "read" ? undefined : request.method);
      return ({ method, url, headers, body }: Outgoing) => {
        const sent = { ...rest, method, headers, redirect: "manual", signal } as const;
        return transport(url, body ? { ...sent, body } : sent);
      };
    };
    return kind === "read"
      ? sendRead(prepared, policy, settings, send, hf)
      : sendWrite(prepared, { ...policy, kind }, settings, send, hf);
  };
}

const OF_READS = ["attempts", "deadlineMs", "attemptTimeoutMs", "classify"];

/** A request that changes nothing: retried by holdfire alone, and given back as it came. */
async function sendRead(
  prepared: Prepared,
  policy: FetchPolicy,
  settings: Settings,
  send: (signal: AbortSignal) => Send,
  hf: Holdfire,
): Promise<Response> {
  const { request, redirect, signal } = prepared;
  const { method, url } = request;
  let last: Response | undefined;
  let refusal: Error | undefined;
  const run = async (_: object, context: { readonly signal: AbortSignal }): Promise<Response> => {
    // It is not read any more; left open, it would hold its connection.
    last?.body?.cancel().catch(() => {});
    // The body is the caller's to read, long after the attempt has ended.
    const stop = new AbortController();
    const giveUp = () => stop.abort();
    context.signal.addEventListener("abort", giveUp, { once: true });
    const both = signal ? AbortSignal.any([stop.signal, signal]) : stop.signal;
    try {
      const followed = await follow(request, redirect, settings.keyHeader, send(both));
      last = followed.response;
      refusal = followed.refusal;
      return last;
    } finally {
      context.signal.removeEventListener("abort", giveUp);
    }
  };
  const declared = Object.entries(declarationsOf(policy)).filter(([name]) =>
    OF_READS.includes(name),
  );
  try {
    const response = await hf.run({
      ...Object.fromEntries(declared),
      name: `${settings.name} read`,
      kind: "read",
      args: { method, url },
      run,
      ...(signal && { signal }),
    });
    if (refusal && redirect === "error") throw refusal;
    return isRetryableRead(response.status) ? finalOf(response) : responseOf(response, url);
  } catch (error) {
    signal?.throwIfAborted();
    // As the platform does: a lost read leaves no operation to ask about.
    const lost = isHoldfireError(error) && error.code === "ERR_HOLDFIRE_NOT_APPLIED";
    throw (lost ? error.cause : undefined) ?? error;
  }
}
