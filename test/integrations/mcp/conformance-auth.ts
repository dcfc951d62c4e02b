/**
 * A user who always says yes, for the conformance suite's scenarios with OAuth.
 *
 * @module
 */

import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";

const REDIRECT = "http://localhost:3000/callback";
const MAX_ROUNDS = 2;

/** What the scenario gives the client beforehand. */
const given: { client_id?: string; client_secret?: string } = JSON.parse(
  process.env.MCP_CONFORMANCE_CONTEXT ?? "{}",
);

function provider(): OAuthClientProvider & { readonly code: () => string } {
  let information: OAuthClientInformationMixed | undefined = given.client_id
    ? (given as OAuthClientInformationMixed)
    : undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = "";
  let code = "";
  return {
    code: () => code,
    redirectUrl: REDIRECT,
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientMetadata: {
      client_name: "holdfire-conformance",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    clientInformation: () => information,
    saveClientInformation(saved) {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens(saved) {
      tokens = saved;
    },
    async redirectToAuthorization(url) {
      const answer = await fetch(url, { redirect: "manual" });
      const location = answer.headers.get("location") ?? "";
      code = new URL(location).searchParams.get("code") ?? "";
    },
    saveCodeVerifier(saved) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
}

/** Does the work, and logs in again as often as a server may reasonably ask. */
export async function authorized(
  client: Client,
  url: URL,
  work: () => Promise<void>,
): Promise<void> {
  const authProvider = provider();
  for (let round = 0; ; round += 1) {
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    try {
      await client.connect(transport);
      await work();
      return;
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || round >= MAX_ROUNDS) throw error;
      await transport.finishAuth(authProvider.code());
      await client.close();
    }
  }
}
