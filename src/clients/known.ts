/**
 * The clients whose retries can be owned, and where their `ownRetries` is found.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";

/** Name of the client's package, and the subpath of ours that knows it. */
export const KNOWN_CLIENTS: readonly { readonly name: string; readonly subpath: string }[] = [
  { name: "openai", subpath: "holdfire/openai" },
  { name: "@anthropic-ai/sdk", subpath: "holdfire/anthropic" },
  { name: "ai", subpath: "holdfire/ai" },
  { name: "@langchain/core", subpath: "holdfire/langchain" },
  { name: "@openai/agents", subpath: "holdfire/openai-agents" },
  { name: "@google/genai", subpath: "holdfire/genai" },
  { name: "stripe", subpath: "holdfire/stripe" },
  { name: "octokit", subpath: "holdfire/octokit" },
  { name: "@aws-sdk", subpath: "holdfire/aws" },
  { name: "axios-retry", subpath: "holdfire/axios" },
  { name: "got", subpath: "holdfire/got" },
  { name: "ky", subpath: "holdfire/ky" },
];

/** The error for anything else; it says what would have been right. */
export function unknownClient(wanted: string): InvalidInputError {
  const known = KNOWN_CLIENTS.map(({ name, subpath }) => `${name} (${subpath})`).join(", ");
  return new InvalidInputError("client", `is not ${wanted}. ownRetries knows: ${known}`);
}
