/**
 * Which requests are refused before anything is read, by their headers alone: a foreign host name, a foreign page, an
 * answer that a form of another site could have sent.
 *
 * @module
 */

import type { CheckedOptions } from "./options.ts";

export interface Refusal {
  readonly status: 400 | 403 | 405 | 415 | 421;
  readonly error: string;
  readonly hint?: string;
}

/** A header that no form and no foreign page can send without being asked for permission first. */
const OWN_HEADER = "x-holdfire-console";

/** Pure. `undefined`: the request may go on to `authorize`. */
export function refusalOf(
  request: Request,
  url: URL,
  { host, hosts }: Pick<CheckedOptions, "host" | "hosts">,
): Refusal | undefined {
  if (hosts && !hosts.includes(url.host)) {
    const hint = `Open it under ${hosts[0]}.`;
    return { status: 421, error: "The console does not answer under this host name.", hint };
  }
  const { method, headers } = request;
  const isAnswer = method === "POST";
  if (!isAnswer && method !== "GET" && method !== "HEAD") {
    return { status: 405, error: "The console takes GET and POST." };
  }
  const origin = headers.get("origin");
  if (isAnswer ? !isOwn(origin, host ?? url.host) : origin && !isOwn(origin, host ?? url.host)) {
    const hint = "Behind a proxy, give consoleHandler the origin that browsers see.";
    return { status: 403, error: "The request came from another page.", hint };
  }
  // A link from elsewhere may open the page, and nothing else.
  const site = headers.get("sec-fetch-site");
  const isElsewhere = site !== null && site !== "same-origin" && site !== "none";
  if (isElsewhere && headers.get("sec-fetch-mode") !== "navigate") {
    return { status: 403, error: "The request came from another page." };
  }
  if (!isAnswer) return undefined;
  if (headers.get(OWN_HEADER) !== "1") {
    return { status: 403, error: `An answer needs the header ${OWN_HEADER}: 1.` };
  }
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, error: "An answer is sent as JSON." };
  return undefined;
}

/** The scheme is not compared: a proxy that ends TLS changes it. */
const isOwn = (origin: string | null, host: string): boolean =>
  origin !== null && URL.parse(origin)?.host === host;
