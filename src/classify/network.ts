/**
 * What a network failure proves about a request: that it was not sent, or nothing.
 *
 * `networkVerdict` decides by `code` and `syscall` alone; `isInterruption` also knows two names, since not every abort has
 * a code. Only `wire/counter.ts` asks whether a request was not sent. All others ask
 * whether a thrown error is a failure of the network: after one, an attempt is unknown unless its requests show that nothing
 * left. The connection that failed may have been that of a redirect or of a second request.
 *
 * @module
 */

import { peek, peekItems } from "../lang/peek.ts";

export type NetworkVerdict = "not_sent" | "unknown";

const MAX_DEPTH = 8;
/** Of an aggregate error. */
export const MAX_PARTS = 32;
/** In all: a getter may make new parts at every look. */
const MAX_ERRORS = 256;

/** Failures of `connect(2)` itself: there was no connection. */
const CONNECT = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "ETIMEDOUT",
  "ENOENT", // a socket file
  "EACCES",
]);

const LOOKUP = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"]);

/**
 * Our side rejected the peer's certificate, before the first byte of a request. Alerts sent by the
 * peer (`ERR_SSL_…`) are not in this list: under TLS 1.3 they may come later.
 */
const DISTRUST = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_UNTRUSTED",
  "CERT_REJECTED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_CHAIN_TOO_LONG",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_CRL",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "HOSTNAME_MISMATCH",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_TLS_CERT_ALTNAME_FORMAT",
]);

/** The connection was open, or may have been, when it failed. */
const DOUBT = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** `undefined` if it is no known network failure. In a chain of causes, `unknown` outweighs `not_sent`. */
export function networkVerdict(error: unknown): NetworkVerdict | undefined {
  return walk(error, new Map(), 0);
}

const INTERRUPTIONS: ReadonlySet<unknown> = new Set(["AbortError", "TimeoutError"]);
const GIVEN_UP: ReadonlySet<unknown> = new Set(["ERR_CANCELED", "UND_ERR_ABORTED", "ABORT_ERR"]);

/** What is read of one error, without its causes. */
export interface ErrorFacts {
  readonly name: unknown;
  readonly code: unknown;
  readonly syscall: unknown;
  /** The errors in an aggregate. */
  readonly parts: readonly unknown[];
}

/** Whether it says that something was given up or broke off, and not what a service answered. */
export const isInterruption = ({ name, code, syscall, parts }: ErrorFacts): boolean =>
  INTERRUPTIONS.has(name) ||
  GIVEN_UP.has(code) ||
  ofCode(code, syscall) !== undefined ||
  parts.some((part) => networkVerdict(part) !== undefined);

function walk(
  error: unknown,
  met: Map<object, NetworkVerdict | undefined>,
  depth: number,
): NetworkVerdict | undefined {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return undefined;
  if (met.has(error) || met.size >= MAX_ERRORS) return met.get(error);
  met.set(error, undefined);
  const parts = peekItems(peek(error, "errors"), MAX_PARTS).map((part) =>
    walk(part, met, depth + 1),
  );
  // The code of an aggregate error is copied from one of its parts, without the syscall.
  const found = [
    ofParts(parts) ?? ofCode(peek(error, "code"), peek(error, "syscall")),
    walk(peek(error, "cause"), met, depth + 1),
  ];
  const verdict = found.includes("unknown") ? "unknown" : found.find((each) => each);
  met.set(error, verdict);
  return verdict;
}

function ofParts(parts: readonly (NetworkVerdict | undefined)[]): NetworkVerdict | undefined {
  if (parts.every((part) => part === undefined)) return undefined;
  return parts.every((part) => part === "not_sent") ? "not_sent" : "unknown";
}

function ofCode(code: unknown, syscall: unknown): NetworkVerdict | undefined {
  if (typeof code !== "string") return undefined;
  if (syscall === "connect" && CONNECT.has(code)) return "not_sent";
  if (syscall === "getaddrinfo" && LOOKUP.has(code)) return "not_sent";
  if (code === "UND_ERR_CONNECT_TIMEOUT" || DISTRUST.has(code)) return "not_sent";
  return DOUBT.has(code) ? "unknown" : undefined;
}
