/**
 * The names of models and providers as OpenTelemetry's conventions for GenAI have them, from what clients call them.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";

/** The beginnings of what clients call a provider, and its name in the conventions. A longer beginning stands first. */
const PROVIDERS: readonly (readonly [begins: string, name: string])[] = [
  ["amazon-bedrock", "aws.bedrock"],
  ["amazon_bedrock", "aws.bedrock"],
  ["anthropic", "anthropic"],
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["cohere", "cohere"],
  ["deepseek", "deepseek"],
  ["google.vertex", "gcp.vertex_ai"],
  ["google_vertexai", "gcp.vertex_ai"],
  ["google", "gcp.gemini"],
  ["groq", "groq"],
  ["mistral", "mistral_ai"],
  ["moonshotai", "moonshot_ai"],
  ["openai", "openai"],
  ["perplexity", "perplexity"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
];

/** Other providers keep the name that their client has for them, without what follows a dot. */
export function providerName(given: string): string {
  const known = PROVIDERS.find(([begins]) => given.toLowerCase().startsWith(begins));
  return known?.[1] ?? given.split(".")[0] ?? given;
}

const LONGEST = 200;

/** A model's name in this property; no text that is longer than names are. */
export function modelName(holder: unknown, property: string): string | undefined {
  const name = peek(holder, property);
  return typeof name === "string" && name !== "" && name.length <= LONGEST ? name : undefined;
}
