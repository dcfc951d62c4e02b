/**
 * Patterns of requests: `POST https://api.example.com/payouts`, `DELETE`, `/v1/charges/*`, `api.example.com`, or the
 * name of an MCP tool. A `*` stands for any text.
 *
 * @module
 */

/** As much of a request as a pattern asks for. */
export interface Asked {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  /** Of a tool call over MCP. */
  readonly tool?: string | undefined;
}

export function fits(pattern: string, { method, origin, path, tool }: Asked): boolean {
  const [first = "", ...others] = pattern.trim().split(" ");
  const namesMethod = /^[A-Z]+$/.test(first);
  if (namesMethod && first !== method) return false;
  const place = (namesMethod ? others : [first, ...others]).join(" ").trim();
  if (place === "") return namesMethod;
  if (place.includes("://")) return glob(place, origin + path) || glob(place, origin);
  if (place.startsWith("/")) return glob(place, path);
  const host = origin.slice(origin.indexOf("://") + 3);
  const names = [host, host + path, hostOnly(host), ...(tool === undefined ? [] : [tool])];
  return names.some((name) => glob(place, name));
}

const hostOnly = (host: string): string => host.replace(/:\d{1,5}$/, "");

/** Goes through the text once for each part between stars, so that no pattern takes long. */
export function glob(pattern: string, text: string): boolean {
  const [start = "", ...parts] = pattern.split("*");
  if (!text.startsWith(start)) return false;
  const end = parts.pop();
  if (end === undefined) return text.length === start.length;
  let at = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - end.length >= at && text.endsWith(end);
}
