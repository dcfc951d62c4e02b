/**
 * What a request asks of which model, by its path and body, in the words of OpenTelemetry's conventions for GenAI.
 *
 * @module
 */

import type { HoldfireEvents } from "../../../observe/events.ts";
import { modelName } from "../retries/model-names.ts";

/** As much of an owned request as tells the model. */
interface Request {
  readonly client: string;
  readonly provider: string;
  readonly options: { readonly body?: unknown };
}

export type AskedModel = Omit<HoldfireEvents["model_call"], "id" | "around">;

/** The ends of paths that ask a model. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "/chat/completions": "chat",
  "/responses": "chat",
  "/messages": "chat",
  "/completions": "text_completion",
  "/embeddings": "embeddings",
  "/images/generations": "generate_content",
  "/images/edits": "generate_content",
};

const operationAt = (path: string): string | undefined =>
  Object.entries(OPERATIONS).find(([end]) => path.endsWith(end))?.[1];

/** A background answer is asked for at `/responses`, and read at `/responses/ID`. */
const BACKGROUND = "/responses/";

export function askedModel(request: Request, step: string, path: string): AskedModel {
  const { client, provider, options } = request;
  const operation = operationAt(path) ?? (path.includes(BACKGROUND) ? "chat" : "other");
  return { client, step, operation, provider, model: modelName(options.body, "model") };
}

export const asksModel = (path: string): boolean => operationAt(path) !== undefined;
