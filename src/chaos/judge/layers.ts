/**
 * The layers that may send again, and to which of them a package belongs.
 *
 * @module
 */

import { KNOWN_CLIENTS } from "../../integrations/shared/retries/retry-catalogue.ts";
import type { Frame } from "../log.ts";
import { glob } from "../pattern.ts";

/**
 * - `sdk`: the client of a service, by itself
 * - `framework`: what runs the tools
 * - `model`: it was told of a failure and asked again
 * - `loop`: a loop around the call or around the whole run, in a library or in the agent's own code
 * - `restart`: a new process did it again
 */
export type LayerName = "sdk" | "framework" | "model" | "loop" | "restart" | "cannot_tell";

const FRAMEWORKS = [
  ...["ai", "@ai-sdk/*", "langchain", "@langchain/*", "@openai/agents*", "@mastra/*"],
  ...["@modelcontextprotocol/*", "llamaindex", "@llamaindex/*", "genkit", "@genkit-ai/*"],
];

const LOOPS = [
  ...["p-retry", "async-retry", "retry", "promise-retry", "exponential-backoff", "cockatiel"],
  ...["ts-retry-promise", "p-queue", "bottleneck", "bullmq", "pg-boss", "opossum"],
];

const isOneOf = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => glob(pattern, name));

export function layerOf(packageName: string): "sdk" | "framework" | "loop" {
  if (isOneOf(FRAMEWORKS, packageName)) return "framework";
  return isOneOf(LOOPS, packageName) ? "loop" : "sdk";
}

/** Frameworks, and the SDKs of models that have a tool runner. */
export const callsTools = (packageName: string): boolean =>
  isOneOf([...FRAMEWORKS, "openai", "@anthropic-ai/sdk", "@google/genai"], packageName);

/** What is known of a package that retries; of one that sends no POST again, nothing is known for a POST. */
export function retrierOf(
  packageName: string,
  method: string,
): { readonly subpath?: string } | undefined {
  if (isOneOf(LOOPS, packageName)) return {};
  const known = KNOWN_CLIENTS.find(({ packages }) => isOneOf(packages, packageName));
  if (!known || (method === "POST" && !known.posts)) return undefined;
  return known.subpath === undefined ? {} : { subpath: known.subpath };
}

const FOLDER = "node_modules/";

/** The package that a frame is in; `undefined` for the agent's own code. */
export function packageOf({ file }: Pick<Frame, "file">): string | undefined {
  const path = file.replaceAll("\\", "/");
  const at = path.lastIndexOf(FOLDER);
  if (at < 0) return undefined;
  const [scope = "", name = ""] = path.slice(at + FOLDER.length).split("/", 2);
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}
