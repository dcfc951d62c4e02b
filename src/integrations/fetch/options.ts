/**
 * What a user says of the services behind a guarded `fetch`, checked before anything is sent.
 *
 * @module
 */

import { checkOptions, oneOf, positive, show, wholeNumber } from "../../engine/define/check.ts";
import { ADAPTER_DEADLINE_MS } from "../../engine/define/define-tool.ts";
import type { ToolKind, ToolOptions } from "../../engine/define/definition.ts";
import type { Reading, StateQuery } from "../../engine/define/reading.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkToolName } from "../../key/check-name.ts";
import type { Json } from "../../key/json.ts";
import type { Fetch } from "../../wire/guarded-fetch.ts";
import type { BodyPrint } from "./body-print.ts";

/** A request as `policy` and `intent` see it. */
export interface FetchRequest {
  /** In capitals. */
  readonly method: string;
  /** Without its fragment. */
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
  /** The body as text; `""` without one. */
  text(): string;
}

/** The arguments of the operation that a write is; a person who is asked is shown these. */
export interface FetchArguments {
  readonly method: string;
  readonly url: string;
  /** The body's JSON, or a digest of it; `null` without one. */
  readonly body: BodyPrint | null;
  /** What `intent` returned. */
  readonly intent?: Json | undefined;
  /** Headers that say whose account is written to, e.g. `stripe-account`. */
  readonly account?: Json | undefined;
  /** Of the very bytes that are sent. */
  readonly sha256?: string | undefined;
  /** `if-match` and its like. */
  readonly condition?: Json | undefined;
}

const DECLARATIONS = [
  "keyed",
  "commitsWithinMs",
  "readFirst",
  "refuses",
  "classify",
  "effect",
  "alsoDoes",
  "plan",
  "verify",
  "resource",
  "service",
  "version",
  "attemptTimeoutMs",
  "readTimeoutMs",
  "deadlineMs",
  "attempts",
] as const;

type Declarations = Pick<
  ToolOptions<FetchArguments, Json, Response>,
  (typeof DECLARATIONS)[number]
>;

/** What can differ from request to request. Beside these few, it is what a tool declares. */
export interface FetchPolicy extends Declarations {
  /** @default "read" for GET, HEAD and OPTIONS, else "write" */
  readonly kind?: ToolKind | undefined;
  /** The service applies a write with `if-match`, `if-none-match` or `if-unmodified-since` only if that holds. */
  readonly conditional?: boolean | undefined;
  /** The permission a write is made under. @default that of `hf.scope` around the call */
  readonly scope?: string | undefined;
  /** Wanted once more, on purpose: another operation. */
  readonly again?: string | undefined;
  /** Why something that was rejected should be tried once more. */
  readonly retry?: string | undefined;
  /** What was wanted. Two writes in one scope with the same intent are one. @default method, URL, body and the headers that name an account */
  readonly intent?: ((request: FetchRequest) => Json) | undefined;
  /** Reads whether it happened. A result that is no `Response` becomes one, as JSON. */
  readonly readState?:
    | ((query: StateQuery<Json>) => Promise<Reading<unknown>> | Reading<unknown>)
    | undefined;
}

export interface FetchOptions extends FetchPolicy {
  /** Begins the names of the operations. Part of the key. @default "fetch" */
  readonly name?: string | undefined;
  /**
   * Says more of one request; what it returns wins over the options beside it. It is called with `fetch` itself where the body is
   * a string or there is none; any other body is read first, so what it then finds in a variable may belong to a later request.
   * What differs from call to call is safe in the request, in a header, or in `hf.scope` around the call.
   */
  readonly policy?: ((request: FetchRequest) => FetchPolicy | undefined) | undefined;
  /** The header that carries the key; `"ietf"` puts it in quotes. @default Idempotency-Key, plain */
  readonly header?:
    | { readonly name?: string | undefined; readonly form?: "plain" | "ietf" | undefined }
    | undefined;
  /**
   * What becomes of a key header that the caller, or the SDK around it, has set on a write: an error; ours
   * in its place; or it names the operation in place of scope and intent, as `key` of `hf.run` does.
   *
   * @default "refuse"
   */
  readonly callerKey?: "refuse" | "replace" | "use" | undefined;
  /**
   * Where there is no answer to return: an error is thrown, or told by a 409 that asks not to be retried.
   * Most SDKs take an error of their `fetch` for a lost connection, and try again.
   *
   * @default "throw"
   */
  readonly failures?: "throw" | "respond" | undefined;
  /** The longest body that is taken, in bytes. @default 10_485_760 */
  readonly maxBodyBytes?: number | undefined;
  /** What sends. @default the platform's */
  readonly fetch?: Fetch | undefined;
}

const POLICY = [
  ...DECLARATIONS,
  "conditional",
  "readState",
  "kind",
  "scope",
  "again",
  "retry",
  "intent",
];
const OPTIONS = ["name", "policy", "header", "callerKey", "failures", "maxBodyBytes", "fetch"];

/** Options with the defaults filled in. */
export interface Settings {
  readonly name: string;
  readonly keyHeader: string;
  readonly quoted: boolean;
  readonly callerKey: "refuse" | "replace" | "use";
  readonly failures: "throw" | "respond";
  readonly maxBodyBytes: number;
  readonly deadlineMs: number;
  readonly fetch: Fetch;
  policyFor(request: FetchRequest): FetchPolicy;
}

const MOST_BYTES = 10 * 1_048_576;

export function settingsOf(options: FetchOptions): Settings {
  checkOptions(options, [...POLICY, ...OPTIONS], "options");
  const { policy, header = {}, fetch = globalThis.fetch, ...rest } = options;
  checkOptions(header, ["name", "form"], "options.header");
  for (const [name, value] of Object.entries({ policy, fetch, intent: options.intent })) {
    if (value !== undefined && typeof value !== "function") {
      throw new InvalidInputError(`options.${name}`, `must be a function, got ${show(value)}.`);
    }
  }
  const deadlineMs = positive(options.deadlineMs ?? ADAPTER_DEADLINE_MS, "options.deadlineMs");
  const all = Object.fromEntries(Object.entries(rest).filter(([name]) => POLICY.includes(name)));
  return {
    name: checkToolName(options.name ?? "fetch"),
    keyHeader: checkHeader(header.name ?? "Idempotency-Key"),
    quoted: oneOf(header.form ?? "plain", ["plain", "ietf"], "options.header.form") === "ietf",
    callerKey: oneOf(
      options.callerKey ?? "refuse",
      ["refuse", "replace", "use"],
      "options.callerKey",
    ),
    failures: oneOf(options.failures ?? "throw", ["throw", "respond"], "options.failures"),
    maxBodyBytes: wholeNumber(options.maxBodyBytes ?? MOST_BYTES, "options.maxBodyBytes"),
    deadlineMs,
    fetch,
    policyFor(request) {
      const own: unknown = policy?.(request) ?? {};
      if (own instanceof Promise) {
        own.catch(() => {});
        throw new InvalidInputError("policy()", "must not be a promise.");
      }
      checkOptions(own as object, POLICY, "policy()");
      return { ...all, deadlineMs, ...(own as FetchPolicy) };
    },
  };
}

/** Only what is said: an option that is there and undefined is not the same to a tool. */
export const declarationsOf = (policy: FetchPolicy): object =>
  Object.fromEntries(
    [...DECLARATIONS, "readState" as const]
      .map((name) => [name, policy[name]])
      .filter(([, value]) => value !== undefined),
  );

function checkHeader(name: unknown): string {
  try {
    new Headers([[name as string, "x"]]);
    return name as string;
  } catch {
    throw new InvalidInputError("options.header.name", `must name a header, got ${show(name)}.`);
  }
}
