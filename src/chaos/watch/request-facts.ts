/**
 * What a request is, by its address and its body: a write, a request to a model, or neither; and which requests are the
 * same one.
 *
 * @module
 */

import { createHmac } from "node:crypto";
import { fieldsOf, messageOf } from "../../gateway/pipe/message.ts";
import { canonicalize } from "../../key/canonical.ts";
import { tryCall } from "../../lang/peek.ts";
import { isSafe } from "../../wire/counter.ts";
import type { Send, SendKind } from "../log.ts";
import type { Orders } from "../orders.ts";
import { fits, glob } from "../pattern.ts";

export interface Outgoing {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  /** With its `?`. */
  readonly query: string;
  readonly contentType: string;
  readonly body: Buffer;
  readonly key?: string | undefined;
}

type Facts = Pick<
  Send,
  "kind" | "method" | "origin" | "path" | "tool" | "same" | "key" | "messages" | "continues"
>;

type Told = Pick<Orders, "salt" | "match" | "ignore" | "modelHosts">;

const MODEL_HOSTS = [
  ...["api.openai.com", "*.openai.azure.com", "api.anthropic.com", "api.mistral.ai"],
  ...["generativelanguage.googleapis.com", "*aiplatform.googleapis.com", "api.groq.com"],
  ...["bedrock-runtime.*.amazonaws.com", "api.cohere.com", "api.deepseek.com", "api.x.ai"],
  ...["api.together.xyz", "openrouter.ai", "api.fireworks.ai", "ai-gateway.vercel.sh"],
];

/** Any server that speaks like one of them: a gateway, a local model. */
const MODEL_PATHS = [
  ...["*/chat/completions", "*/responses", "*/v1/messages", "*/v1/completions", "*/embeddings"],
  ...["*:generateContent", "*:streamGenerateContent", "/api/chat", "/api/generate"],
];

/** Exporters, which send again what they like. */
const TELEMETRY = [
  ...["/v1/traces", "/v1/metrics", "/v1/logs", "*.sentry.io", "*.posthog.com", "*.datadoghq.com"],
  ...["api.smith.langchain.com", "*.langfuse.com"],
];

export function factsOf(request: Outgoing, told: Told): Facts {
  const { method, origin, path, query, key } = request;
  const value = jsonIn(request);
  const rpc = fieldsOf(value).jsonrpc === "2.0" ? messageOf(value) : undefined;
  const tool = rpc?.kind === "request" ? String(rpc.params.name ?? "") || undefined : undefined;
  const asked = { method, origin, path, tool };
  const hash = (...parts: readonly string[]) =>
    createHmac("sha256", told.salt).update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
  return {
    kind: kindOf(request, value, asked, told),
    ...asked,
    // Not the origin: a service on this machine may have another port in the next run.
    same: hash(method, path, query, comparable(request, value)),
    key: key === undefined ? undefined : hash("key", key),
    messages: messagesIn(value)?.length,
    continues: goesOn(value) || undefined,
  };
}

function kindOf(
  request: Outgoing,
  value: unknown,
  asked: Parameters<typeof fits>[1],
  { match, ignore, modelHosts }: Told,
): SendKind {
  const isOneOf = (patterns: readonly string[]) => patterns.some((one) => fits(one, asked));
  const speaksLikeModel =
    MODEL_PATHS.some((path) => glob(path, request.path)) &&
    (messagesIn(value) !== undefined || Object.hasOwn(fieldsOf(value), "model"));
  if (isOneOf(modelHosts) || isOneOf(MODEL_HOSTS) || speaksLikeModel) return "model";
  if (match.length > 0) return isOneOf(match) && !isOneOf(ignore) ? "write" : "other";
  if (isSafe(request.method) || isOneOf(ignore) || isOneOf(TELEMETRY)) return "other";
  if (isTokenRequest(request)) return "other";
  // Of MCP over HTTP, all messages are POSTs; only a tool call does something.
  const isRpc = fieldsOf(value).jsonrpc === "2.0";
  return isRpc && fieldsOf(value).method !== "tools/call" ? "other" : "write";
}

/** A request for a token of OAuth, RFC 6749: a form with a `grant_type`. */
const isTokenRequest = ({ contentType, body }: Outgoing): boolean =>
  contentType.startsWith("application/x-www-form-urlencoded") &&
  new URLSearchParams(body.toString("utf8")).has("grant_type");

const jsonIn = ({ contentType, body }: Outgoing): unknown =>
  contentType.includes("json") ? tryCall(JSON, "parse", body.toString("utf8")) : undefined;

function messagesIn(value: unknown): readonly unknown[] | undefined {
  const { messages, input, contents } = fieldsOf(value);
  return [messages, input, contents].find((list) => Array.isArray(list));
}

/** It names the answer that it goes on from, and sends only what is new: OpenAI's responses, Anthropic's threads. */
function goesOn(value: unknown): boolean {
  const { previous_response_id, thread } = fieldsOf(value);
  return typeof previous_response_id === "string" || fieldsOf(thread).type === "continue";
}

/** The body without what differs in a repeat: the order of fields, the id of a call, the boundary of its parts. */
function comparable({ contentType, body }: Outgoing, value: unknown): string {
  const { jsonrpc, method, params } = fieldsOf(value);
  const { _meta, ...told } = fieldsOf(params);
  try {
    if (jsonrpc === "2.0") return canonicalize({ method, params: told }, "body").text;
    if (value !== undefined) return canonicalize(value, "body").text;
  } catch {
    // Too large or too deep: as it is.
  }
  const boundary = /boundary="?([^";]{1,70})/.exec(contentType)?.[1];
  const text = body.toString("latin1");
  return boundary === undefined ? text : text.replaceAll(boundary, "");
}
