/**
 * Distinguishes a redirect hop from a second request: pure decisions on addresses, methods and
 * statuses.
 *
 * @module
 */

export interface Address {
  readonly origin: string;
  /** Without the query, which may contain secrets, and cut to 512 characters. */
  readonly path: string;
  /** The whole address, to compare; not kept after the attempt and never shown. */
  readonly href: string;
}

const MAX_PATH = 512;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The address of a request. `target` is the target of the request line: a path, or a URL for a proxy. */
export function locate(origin: string, target: string): Address {
  // A path may start with "//", which as a relative URL would name another host.
  const whole = target.startsWith("/") ? origin + target : target;
  const url = URL.parse(whole) ?? URL.parse(`${origin}/${target}`);
  if (!url) return { origin, path: target.split("?", 1).join("").slice(0, MAX_PATH), href: whole };
  url.hash = "";
  return { origin: url.origin, path: url.pathname.slice(0, MAX_PATH), href: url.href };
}

/** The address that a redirect points to; `undefined` if the answer is not a redirect. */
export function redirectTarget(
  from: string,
  status: number,
  location: string | undefined,
): string | undefined {
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const url = URL.parse(location, from);
  if (!url) return undefined;
  url.hash = "";
  return url.href;
}

/** Whether a client that follows this redirect may send `next` after `method`. */
export function mayFollow(status: number, method: string, next: string): boolean {
  if (method === next) return true;
  if (status === 303) return next === "GET";
  return (status === 301 || status === 302) && method === "POST" && next === "GET";
}

/** A header among those that undici gives: a flat list of names and values, an object, or text. */
export function headerIn(headers: unknown, wanted: string): string | undefined {
  if (typeof headers === "string") return headerInText(headers, wanted);
  const pairs: readonly unknown[] = Array.isArray(headers)
    ? headers
    : Object.entries(headers ?? {}).flat();
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const name = pairs[i];
    // Only a name of as many bytes is worth converting to text.
    if ((typeof name === "string" || Buffer.isBuffer(name)) && name.length === wanted.length) {
      if (name.toString().toLowerCase() === wanted) return String(pairs[i + 1]);
    }
  }
  return undefined;
}

function headerInText(headers: string, wanted: string): string | undefined {
  const start = `${wanted}:`;
  const line = headers.split("\r\n").find((each) => each.toLowerCase().startsWith(start));
  return line?.slice(start.length).trim();
}
