/**
 * What was thrown, looked at in one place. A tool may throw anything: an error of any SDK and of any realm, a text, a proxy
 * whose getters throw, or return something else each time. What it proves (`classify.ts`) and what is told of it
 * (`failure.ts`) are decided by what is read here, safely and to a limited depth.
 *
 * @module
 */

import { isHoldfireError } from "../errors.ts";
import { causes, peek, peekItems } from "../lang/peek.ts";
import { type HeaderReader, headersOf, statusOf } from "./answer.ts";
import { isAfterHanding, isMcpAnswer } from "./mcp.ts";
import { type ErrorFacts, isInterruption, MAX_PARTS } from "./network.ts";
import { NOT_APPLIED } from "./not-applied.ts";

export interface Thrown {
  /** Itself, for those that read it: the tool's `classify`, `isKeyError`, and the search for words in a service's answer. */
  readonly error: unknown;
  /** It and its causes, outermost first, to be compared with what the wire has seen. */
  readonly chain: readonly unknown[];
  /** Of the answer that it carries, if it carries one. */
  readonly status: number | undefined;
  /** Reads when it is asked. */
  readonly header: HeaderReader;
  /** The first `code` or `type` along its causes: a bare fetch error has them in its cause. */
  readonly code: string | undefined;
  /** Its class. */
  readonly type: string;
  readonly message: string | undefined;
  /** It is the tool's own word that nothing happened: `notApplied(why)`. */
  readonly isNotApplied: boolean;
  /** It is one of our own errors. */
  readonly isOurs: boolean;
  /** It, or one of its causes, is one of our own errors: mostly that of an operation made inside the attempt. */
  readonly hasOurs: boolean;
  /** It says that something was given up or broke off, and not what a service answered. */
  readonly isInterruption: boolean;
  /** It was thrown in place of an MCP answer that says no more than "error". */
  readonly isMcpAnswer: boolean;
  /** It was thrown after a call was handed to an MCP server, though perhaps no request was seen. */
  readonly isAfterHanding: boolean;
}

export function lookAt(error: unknown): Thrown {
  const chain = causes(error);
  const links = chain.map(readLink);
  const className = peek(peek(error, "constructor"), "name");
  const message = typeof error === "string" ? error : peek(error, "message");
  const isNotApplied = peek(error, NOT_APPLIED) === true;
  const status = statusOf(error);
  const header = headersOf(error);
  const ours = chain.findIndex(isHoldfireError);
  return {
    error,
    chain,
    status,
    header,
    code: links.flatMap(({ code, type }) => [code, type]).find(isCode),
    // The name that an error gives itself, if it has one of its own: a `DOMException` may be a `TimeoutError`.
    type: nameIn([links[0]?.name, className]) ?? (error === null ? "null" : typeof error),
    message: typeof message === "string" ? message : undefined,
    isNotApplied,
    isOurs: ours === 0,
    hasOurs: ours >= 0,
    isInterruption: links.some(isInterruption),
    isMcpAnswer: isMcpAnswer(error),
    isAfterHanding: isAfterHanding(error),
  };
}

const readLink = (link: unknown): ErrorFacts & { readonly type: unknown } => ({
  name: peek(link, "name"),
  code: peek(link, "code"),
  type: peek(link, "type"),
  syscall: peek(link, "syscall"),
  parts: peekItems(peek(link, "errors"), MAX_PARTS),
});

/** A short identifier, safe for the ledger and for logs. */
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;

export const isCode = (code: unknown): code is string =>
  typeof code === "string" && CODE.test(code);

/** Names in a program; a sentence of a service does not match. */
const CLASS = /^[A-Za-z_$][\w$]{0,63}$/;

export const isClassName = (name: unknown): name is string =>
  typeof name === "string" && CLASS.test(name);

/** The first that says more than "Error". */
function nameIn(names: readonly unknown[]): string | undefined {
  const fitting = names.filter(isClassName);
  return fitting.find((name) => name !== "Error") ?? fitting[0];
}
