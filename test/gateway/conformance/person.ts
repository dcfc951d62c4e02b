/**
 * A user who always says yes to OAuth, for clients of both SDKs.
 *
 * @module
 */

import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  auth as secondAuth,
} from "@modelcontextprotocol/client";
import { auth as firstAuth } from "@modelcontextprotocol/sdk/client/auth.js";

const REDIRECT = "http://localhost:3000/callback";

/** What the scenario gives the client beforehand. */
const given: { client_id?: string } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

type Stored = Record<string, unknown> & { readonly issuer?: string };

/** What both SDKs call an `OAuthClientProvider`, as far as it is used here. */
export interface Person {
  /** What the authorization server has sent the user back with. */
  callback(): URLSearchParams;
  tokens(): { readonly access_token: string } | undefined;
  /** All that was asked for so far. */
  scope?: string | undefined;
}

export function createPerson(): Person {
  let information: Stored | undefined = given.client_id ? (given as Stored) : undefined;
  let tokens: (Stored & { readonly access_token: string }) | undefined;
  let verifier = "";
  let callback = new URLSearchParams();
  const provider = {
    callback: () => callback,
    redirectUrl: REDIRECT,
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientMetadata: {
      client_name: "holdfire-conformance",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
    },
    clientInformation: () => information,
    saveClientInformation(saved: Stored) {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens(saved: Stored) {
      tokens = saved as typeof tokens;
    },
    invalidateCredentials(scope: string) {
      if (scope === "all" || scope === "client") information = undefined;
      if (scope === "all" || scope === "tokens") tokens = undefined;
    },
    async redirectToAuthorization(url: URL) {
      const answer = await fetch(url, { redirect: "manual" });
      callback = new URL(answer.headers.get("location") ?? "").searchParams;
    },
    saveCodeVerifier(saved: string) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  return provider;
}

/** Logs in as a challenge of the server wants it. Resolves with the token. */
export async function logIn(
  version: "v1" | "v2",
  person: Person,
  serverUrl: URL,
  { status, challenge }: { readonly status: number; readonly challenge: string },
): Promise<string | undefined> {
  const headers = challenge ? { "www-authenticate": challenge } : {};
  const asked = extractWWWAuthenticateParams(new Response(null, { status, headers }));
  const { resourceMetadataUrl } = asked;
  // From 2026-07-28 on another login asks for what the last one had, too.
  const scope = version === "v1" ? asked.scope : computeScopeUnion(person.scope, asked.scope);
  person.scope = scope;
  const auth = (version === "v1" ? firstAuth : secondAuth) as (
    person: unknown,
    options: object,
  ) => Promise<"AUTHORIZED" | "REDIRECT">;
  const how = { serverUrl, resourceMetadataUrl, scope, forceReauthorization: status === 403 };
  const first = await auth(person, how);
  if (first === "REDIRECT") {
    const { code, iss } = Object.fromEntries(person.callback());
    await auth(person, { ...how, authorizationCode: code, iss });
  }
  return person.tokens()?.access_token;
}
