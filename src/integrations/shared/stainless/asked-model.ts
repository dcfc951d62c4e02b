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

/** The ends of paths by which a model is asked, or something is counted or judged. */
const ASKS =
  /\/(?:(?:chat\/)?completions|complete|responses|responses\/compact|messages|embeddings|moderations|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations)|count_tokens|input_tokens)$/;

/** A message of a thread is kept there: it is a write, and ends as one of a model call does. */
const THREAD = /\/threads\//;

/** Whether a request changes nothing: it reads, or asks a model. A batch, a file or a job is made by the others. */
export const isSample = (method: string, path: string): boolean =>
  method === "GET" ||
  method === "HEAD" ||
  (method === "POST" && ASKS.test(path) && !THREAD.test(path));

export const asksModel = (path: string): boolean => operationAt(path) !== undefined;
