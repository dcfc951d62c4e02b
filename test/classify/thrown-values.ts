/**
 * What tools throw: errors as clients, SDKs and the platform shape them, and values that nobody expects. Each is made
 * anew, so that none is what an earlier look has left of it.
 *
 * @module
 */

import { runInNewContext } from "node:vm";
import { AxiosError, type InternalAxiosRequestConfig } from "axios";
import { APIConnectionError, APIError } from "openai";
import Stripe from "stripe";
import { errors as undici } from "undici";
import { McpNotSentError, McpToolError, McpTurnedAwayError } from "../../src/classify/mcp.ts";
import { notApplied } from "../../src/classify/not-applied.ts";
import { InvalidInputError, OutcomeUnknownError } from "../../src/errors.ts";
import { HOSTILE } from "./hostile.ts";

type Fields = Readonly<Record<string, unknown>>;

const error = (message: string, fields: Fields = {}): Error =>
  Object.assign(new Error(message), fields);
const system = (code: string, syscall: string): Error =>
  error(`${syscall} ${code} 10.0.0.1:443`, { code, syscall, errno: -111 });
const fetchFailed = (cause: unknown): Error => new TypeError("fetch failed", { cause });
const foreign = (source: string): unknown => runInNewContext(source);

/** A value around another, so often. */
const wrapped = (inner: unknown, times: number): unknown =>
  times === 0 ? inner : new Error(`outer ${times}`, { cause: wrapped(inner, times - 1) });

function axiosError(status: number, data: unknown, headers: Fields = {}): Error {
  const config = { headers: {} } as InternalAxiosRequestConfig;
  const response = { status, statusText: "no", data, headers, config };
  return new AxiosError("Request failed", "ERR_BAD_REQUEST", config, {}, response as never);
}

const proxied = (target: object): object =>
  new Proxy(target, {
    get: (of, key) => {
      if (key === "cause") throw new Error("no");
      return Reflect.get(of, key);
    },
  });

const rejection = { error: { message: "Your card was declined.", code: "card_declined" } };
const facts = { tool: "pay", id: "op_1", key: "key_1" };

type Made = readonly [name: string, make: () => unknown];

const PLATFORM: readonly Made[] = [
  ["fetch, connection refused", () => fetchFailed(system("ECONNREFUSED", "connect"))],
  ["fetch, connection reset", () => fetchFailed(system("ECONNRESET", "read"))],
  ["fetch, no such name", () => fetchFailed(system("ENOTFOUND", "getaddrinfo"))],
  ["fetch, other side closed", () => fetchFailed(new undici.SocketError("other side closed"))],
  ["fetch, headers too late", () => fetchFailed(new undici.HeadersTimeoutError())],
  ["fetch, body too late", () => fetchFailed(new undici.BodyTimeoutError())],
  ["fetch, connect too late", () => fetchFailed(new undici.ConnectTimeoutError())],
  ["fetch, certificate", () => fetchFailed(error("expired", { code: "CERT_HAS_EXPIRED" }))],
  ["fetch, TLS alert", () => fetchFailed(error("alert", { code: "ERR_SSL_TLSV1_ALERT" }))],
  ["fetch, bad address", () => new TypeError("Failed to parse URL from x")],
  ["fetch, no cause", () => new TypeError("fetch failed")],
  ["undici, aborted", () => new undici.RequestAbortedError()],
  ["undici, an answer", () => new undici.ResponseError("no", 429, { headers: {}, body: {} })],
  ["undici, bad argument", () => new undici.InvalidArgumentError("bad")],
  ["abort", () => new DOMException("This operation was aborted", "AbortError")],
  ["time limit", () => new DOMException("The operation was aborted", "TimeoutError")],
  ["abort of node", () => error("aborted", { name: "AbortError", code: "ABORT_ERR" })],
  ["DOMException of another name", () => new DOMException("clone", "DataCloneError")],
  ["connect refused", () => system("ECONNREFUSED", "connect")],
  ["connect timed out", () => system("ETIMEDOUT", "connect")],
  ["read timed out", () => system("ETIMEDOUT", "read")],
  ["broken pipe", () => system("EPIPE", "write")],
  ["file not found", () => system("ENOENT", "open")],
  ["socket file not found", () => system("ENOENT", "connect")],
  ["permission denied", () => system("EACCES", "open")],
  [
    "two addresses, both refuse",
    () =>
      Object.assign(
        new AggregateError([system("ECONNREFUSED", "connect"), system("ECONNREFUSED", "connect")]),
        { code: "ECONNREFUSED" },
      ),
  ],
  [
    "two addresses, one resets",
    () => new AggregateError([system("ECONNREFUSED", "connect"), system("ECONNRESET", "read")]),
  ],
  ["Promise.any", () => new AggregateError([new Error("a"), new RangeError("b")], "All failed")],
  ["aggregate in a cause", () => fetchFailed(new AggregateError([system("ECONNRESET", "read")]))],
  ["empty aggregate", () => new AggregateError([])],
  ["a bug", () => new ReferenceError("amount is not defined")],
  ["a bug with a stack in its message", () => new TypeError("x is null\n    at pay (x.ts:1:1)")],
  ["assertion", () => error("1 == 2", { name: "AssertionError", code: "ERR_ASSERTION" })],
  ["JSON", () => new SyntaxError("Unexpected token < in JSON at position 0")],
];

const CLIENTS: readonly Made[] = [
  ["axios 402", () => axiosError(402, rejection)],
  ["axios 429", () => axiosError(429, "slow down", { "Retry-After": "2" })],
  ["axios 500 page", () => axiosError(500, "<!doctype html><html>no</html>")],
  ["axios, no answer", () => new AxiosError("socket hang up", "ECONNRESET")],
  ["axios, cancelled", () => new AxiosError("canceled", "ERR_CANCELED")],
  ["axios, time limit", () => new AxiosError("timeout of 5ms exceeded", "ECONNABORTED")],
  [
    "stripe, declined",
    () =>
      new Stripe.errors.StripeCardError({
        message: "Your card was declined.",
        type: "card_error",
        code: "card_declined",
        statusCode: 402,
        headers: { "request-id": "req_1" },
      } as never),
  ],
  [
    "stripe, key used before",
    () =>
      new Stripe.errors.StripeIdempotencyError({
        message: "Keys for idempotent requests can only be used with the same parameters.",
        type: "idempotency_error",
        statusCode: 400,
      } as never),
  ],
  [
    "stripe, connection",
    () =>
      new Stripe.errors.StripeConnectionError({
        message: "An error occurred",
        type: "api_error",
      } as never),
  ],
  ["openai 400", () => APIError.generate(400, rejection, undefined, new Headers())],
  [
    "openai 429",
    () => APIError.generate(429, rejection, undefined, new Headers({ "retry-after-ms": "1500" })),
  ],
  [
    "openai, no answer",
    () => new APIConnectionError({ cause: fetchFailed(system("EPIPE", "write")) }),
  ],
  [
    "aws, throttled",
    () =>
      error("Rate exceeded", {
        name: "ThrottlingException",
        $fault: "client",
        $metadata: { httpStatusCode: 400, requestId: "r" },
      }),
  ],
  ["aws, no answer", () => error("reset", { name: "TimeoutError", $metadata: { attempts: 1 } })],
  [
    "octokit 422",
    () =>
      error("Validation Failed", {
        name: "HttpError",
        status: 422,
        response: { status: 422, data: { message: "Validation Failed" }, headers: { etag: "x" } },
      }),
  ],
  [
    "got 404",
    () =>
      error("Response code 404", {
        name: "HTTPError",
        code: "ERR_NON_2XX_3XX_RESPONSE",
        response: { statusCode: 404, status: 404, body: '{"message":"no such customer"}' },
      }),
  ],
  [
    "ky 503",
    () => error("503", { name: "HTTPError", response: new Response("no", { status: 503 }) }),
  ],
  [
    "the AI SDK 400",
    () =>
      error("bad", {
        name: "AI_APICallError",
        statusCode: 400,
        responseBody: '{"error":{"message":"bad model"}}',
        responseHeaders: {},
      }),
  ],
  [
    "square, key used before",
    () =>
      error("400", {
        statusCode: 400,
        body: { errors: [{ code: "IDEMPOTENCY_KEY_REUSED", detail: "used" }] },
      }),
  ],
  [
    "problem document",
    () => ({ status: 402, data: { type: "https://x/idempotency", title: "no" } }),
  ],
  ["replayed", () => error("no", { status: 402, headers: { "Idempotent-Replayed": "true" } })],
  [
    "retry after a date",
    () => error("no", { status: 503, headers: { "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" } }),
  ],
  ["a status in a wrapped error", () => wrapped(error("no", { status: 402 }), 1)],
  ["a status that is a text", () => error("no", { status: "402" })],
  ["a success", () => error("odd", { status: 200 })],
  ["a made-up status", () => error("lost", { status: 599, cause: system("ECONNRESET", "read") })],
  ["GraphQL", () => error("GraphQL", { response: { status: 200, errors: [{ message: "no" }] } })],
  ["pg", () => error("duplicate key", { name: "error", code: "23505", severity: "ERROR" })],
  ["grpc", () => error("14 UNAVAILABLE", { code: 14, details: "no connection" })],
  ["a secret in the message", () => error("refused: Bearer sk_live_51Habcdefghijklmnop")],
  ["an address in the message", () => error("POST https://a.example/hook/T0K3N?x=1 failed")],
  ["a message that hides", () => error("a\u202eb\u0007\u200bc")],
  ["a long message", () => error("word ".repeat(500))],
  ["a message of blank lines", () => error(" \n\r\n ")],
  ["a Response", () => new Response("no", { status: 402, headers: { "retry-after": "3" } })],
  ["a Response 201", () => new Response("{}", { status: 201 })],
  ["an errored Response", () => Response.error()],
  ["an answer of undici", () => ({ statusCode: 404, headers: { "retry-after": 4 }, body: {} })],
  ["an answer of axios", () => ({ status: 200, headers: {}, data: {} })],
];

const OURS: readonly Made[] = [
  ["notApplied", () => notApplied("The card was declined.")],
  ["notApplied with a cause", () => notApplied("no", { cause: axiosError(402, rejection) })],
  ["notApplied in another error", () => wrapped(notApplied("no"), 1)],
  [
    "notApplied of another copy",
    () => ({ message: "no", [Symbol.for("holdfire.not_applied")]: true }),
  ],
  ["an inner operation", () => new OutcomeUnknownError(facts, "lost_reply")],
  ["an inner operation, wrapped", () => wrapped(new OutcomeUnknownError(facts, "lost_reply"), 2)],
  ["bad input", () => new InvalidInputError("args", "must be plain.")],
  ["a code that imitates ours", () => ({ code: "ERR_HOLDFIRE_X", message: "x" })],
  ["an inherited code of ours", () => Object.create({ code: "ERR_HOLDFIRE_X" })],
  ["MCP, isError", () => new McpToolError({ isError: true, content: [] })],
  ["MCP, not sent", () => new McpNotSentError("it is closed", system("EPIPE", "write"))],
  ["MCP, turned away", () => new McpTurnedAwayError(error("401", { code: 401 }))],
  ["MCP, time limit", () => error("Request timed out", { name: "McpError", code: -32001 })],
  ["MCP, bad parameters", () => error("Invalid params", { name: "McpError", code: -32602 })],
  ["MCP, isError in a cause", () => wrapped(new McpToolError({ isError: true }), 1)],
];

const ODD: readonly Made[] = [
  ...HOSTILE.map(([name, value]): Made => [name, () => value]),
  ["false", () => false],
  ["NaN", () => Number.NaN],
  ["a bigint", () => 7n],
  ["an empty text", () => ""],
  ["a text of two lines", () => "no funds\nreally"],
  ["an array", () => [system("ECONNRESET", "read")]],
  ["a date", () => new Date(0)],
  ["a promise", () => Promise.resolve()],
  ["a function with a code", () => Object.assign(() => {}, { code: "card_declined", status: 402 })],
  ["a proxy of a reset", () => proxied(system("ECONNRESET", "read"))],
  [
    "a proxy of an Error that hides its cause",
    () => proxied(fetchFailed(system("EPIPE", "write"))),
  ],
  ["name of a wrong type", () => ({ name: 7, constructor: { name: {} }, message: 7 })],
  ["name that is a sentence", () => error("x", { name: "a sentence, of a service" })],
  ["null prototype with a code", () => Object.assign(Object.create(null), { code: "EPIPE" })],
  ["no constructor", () => error("x", { constructor: undefined })],
  ["code too long", () => error("x", { code: "x".repeat(65), type: "card_error" })],
  ["code with a space", () => error("x", { code: "not a code" })],
  ["code of the cause", () => wrapped(error("x", { code: "E_INNER" }), 3)],
  ["type before the code of the cause", () => error("x", { type: "t", cause: { code: "c" } })],
  ["a reset, eight causes deep", () => wrapped(system("ECONNRESET", "read"), 8)],
  ["a reset, nine causes deep", () => wrapped(system("ECONNRESET", "read"), 9)],
  ["a cause that is a text", () => error("x", { cause: "ECONNRESET" })],
  ["a cause that is null", () => error("x", { cause: null })],
  ["a part that is a text", () => new AggregateError(["ECONNRESET", undefined, null])],
  ["parts that are no array", () => error("x", { errors: { 0: { code: "EPIPE" }, length: 1 } })],
  ["thirty-three parts", () => new AggregateError([...Array(32).fill({}), { code: "EPIPE" }])],
  ["another realm, TypeError", () => foreign("new TypeError('fetch failed')")],
  ["another realm, reset", () => foreign("Object.assign(new Error('x'), { code: 'ECONNRESET' })")],
  ["another realm, status", () => foreign("({ status: 402, error: { message: 'no' } })")],
  ["another realm, AbortError", () => foreign("({ name: 'AbortError' })")],
  ["another realm, null prototype", () => foreign("Object.create(null)")],
  ["headers that throw", () => ({ status: 402, headers: { get: () => foreign("null.x") } })],
  ["headers as a Map", () => ({ status: 402, headers: new Map([["retry-after", "9"]]) })],
  ["several of one header", () => ({ status: 402, headers: { "retry-after": ["1", "2"] } })],
  ["a body of bytes", () => ({ status: 402, body: new Uint8Array([1, 2]) })],
  ["a body that nests", () => ({ status: 402, error: { error: { error: { message: "deep" } } } })],
  [
    "the words are its message",
    () => error("declined", { status: 402, raw: { message: "declined" } }),
  ],
];

export const THROWN: readonly Made[] = [...PLATFORM, ...CLIENTS, ...OURS, ...ODD];
