/**
 * A request that changes nothing: retried by holdfire alone, and given back as it came.
 *
 * @module
 */

import { isRetryableRead } from "../../classify/http.ts";
import { isHoldfireError } from "../../errors.ts";
import type { Holdfire } from "../../holdfire.ts";
import { finalOf, responseOf } from "./answer.ts";
import { declarationsOf, type FetchPolicy, type Settings } from "./options.ts";
import { follow, type Send } from "./redirects.ts";
import type { Prepared } from "./request.ts";

const OF_READS = ["attempts", "deadlineMs", "attemptTimeoutMs", "classify"];

export async function sendRead(
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
    // Nobody will read it; unread, it would hold its connection.
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
    // As the platform does: a lost read is no operation that anybody would ask after.
    const lost = isHoldfireError(error) && error.code === "ERR_HOLDFIRE_NOT_APPLIED";
    throw (lost ? error.lastError : undefined) ?? error;
  }
}
