/**
 * A stand-in for an OAuth server: `POST /token` grants an access token. Each is good for one payout, so that the bank's
 * client has to refresh it before every one: the worst case of what clients do now and then.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Tokens {
  /** The origin: what a rule names in `ignores`. */
  readonly url: string;
  /** How many it has granted. */
  readonly granted: number;
  close(): Promise<void>;
}

export async function startTokens(): Promise<Tokens> {
  let granted = 0;
  const server = createServer((_, response) => {
    granted += 1;
    const body = JSON.stringify({ access_token: `token-${granted}`, token_type: "Bearer" });
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get granted() {
      return granted;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A `fetch` that refreshes its token before each write, as the client of an API with OAuth does. */
export const withToken =
  (tokensFrom: string): typeof fetch =>
  async (to, init) => {
    if (init?.method === "GET") return fetch(to, init);
    const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: "r1" });
    const granted = await fetch(`${tokensFrom}/token`, { method: "POST", body: form });
    if (!granted.ok) throw new Error(`The token endpoint answered ${granted.status}.`);
    const token: { readonly access_token?: string } = Object(await granted.json());
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token.access_token}`);
    return fetch(to, { ...init, headers });
  };
