/**
 * A tool that is one HTTP request: the request carries the key, its answer is judged by its status, and a GET finds out what
 * became of it when the answer is lost.
 *
 * @module
 */

import { notApplied } from "../classify/not-applied.ts";
import { serviceWords } from "../classify/service-words.ts";
import type {
  AttemptContext,
  KeyedOptions,
  ToolKind,
  ToolOptions,
  ToolWithInput,
} from "../engine/define/definition.ts";
import { type Input, withCheck } from "../engine/define/schema.ts";
import { standsFor } from "../engine/define/source.ts";
import { InvalidInputError } from "../errors.ts";
import { peek } from "../lang/peek.ts";
import { attemptFetch } from "../wire/bound-fetch.ts";
import { checkTemplate, fillUrl, namesIn } from "./fill-url.ts";
import { type FindOptions, findOptions, findState } from "./find.ts";
import { type HeaderValues, type HttpAnswer, HttpAnswerError, sendRequest } from "./request.ts";
import type { Standing } from "./standing.ts";

/** What `httpTool` needs to know of a request; the rest of a tool's options may be given, too. */
export interface HttpToolOptions<A, I, R, G = A>
  extends Omit<ToolOptions<NoInfer<A>, I, R>, "kind" | "keyed" | "via"> {
  /** Any Standard Schema, or `typed<Args>()`. */
  readonly input: Input<A, G>;
  /**
   * Where the request goes, with names of arguments in braces: `https://api.example/payments/{paymentId}/refunds`. Their values
   * are encoded; `{key}` is the key. A function may choose between such addresses.
   */
  readonly url: string | ((args: NoInfer<A>) => string);
  /** @default "POST" */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** A GET that is said to write is judged as any write is. @default "read" for GET, else "write" */
  readonly kind?: ToolKind | undefined;
  /** Headers, or a function that is called for every request, e.g. for a token. They are not recorded. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>) | undefined;
  /**
   * What is sent: JSON, a `URLSearchParams` as a form, a string as it is; `undefined` is no body. It is given the key, for a
   * service that wants it here. @default the arguments that are not in the address, as JSON; none for GET and DELETE
   */
  readonly body?: ((args: NoInfer<A>, about: { readonly key: string }) => unknown) | undefined;
  /**
   * The header that carries the key, e.g. `"Idempotency-Key"`. With `forMs`, how long the service recognises a key, a lost
   * request is sent again under it. @default the request carries no key
   */
  readonly key?: string | KeyedOptions | undefined;
  /** The key in a form that the service takes, everywhere it is sent and found. Two keys must not get one form. @default as it is */
  readonly keyForm?: ((key: string) => string) | undefined;
  /**
   * How to find what was made: an address with `{key}` in it. Without it, and without `key.forMs`, a lost reply stays unknown.
   *
   * @example
   * ```ts
   * find: { url: "https://api.example/refunds?reference={key}", list: "data" }
   * ```
   */
  readonly find?: string | FindOptions<I> | undefined;
  /** The result, from the JSON of the answer or from a thing that was found. @default the JSON, as `unknown` */
  readonly result?: ((body: unknown, answer: HttpAnswer) => R) | undefined;
  /** What the state of a result means, where a success is not the end: a declined payment is there, too. @default "done" */
  readonly standing?: ((result: NoInfer<R>, intent: NoInfer<I>) => Standing) | undefined;
  /** @default `context.fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * The definition of a tool that is one HTTP request. It is `via: "http"`.
 *
 * @example
 * ```ts
 * const refund = hf.tool(
 *   httpTool({
 *     name: "refund_payment",
 *     input: typed<{ paymentId: string; cents: number }>(),
 *     url: "https://api.example/payments/{paymentId}/refunds",
 *     key: "Idempotency-Key",
 *     find: "https://api.example/refunds?idempotency_key={key}",
 *   }),
 * );
 * ```
 */
export function httpTool<A, R = unknown, I = A, G = A>(
  options: HttpToolOptions<A, I, R, G>,
): ToolWithInput<A, I, R, G> {
  const {
    url,
    method = "POST",
    kind = method === "GET" ? "read" : "write",
    headers: givenHeaders,
    body,
    key,
    find,
    result,
    standing,
    ...more
  } = options;
  const { keyForm = (plain: string) => plain, fetch, ...rest } = more;
  const at = (option: string) => `httpTool "${rest.name}".${option}`;
  // Copies: a program may go on to use its objects for the next tool.
  const headers = typeof givenHeaders === "function" ? givenHeaders : { ...givenHeaders };
  const keyed = typeof key === "string" ? undefined : key && { ...key };
  const keyHeader = typeof key === "string" ? key : key?.header;
  const idOf = rest.effect?.id;
  const finding = findOptions(find, at("find"));
  if (finding) checkTemplate(finding.url, at("find"));
  if (finding && rest.readState) throw new InvalidInputError(at("find"), "and readState are two.");
  const fixed = typeof url === "string" ? checkTemplate(url, at("url")) : undefined;
  const templateFor = (args: A): string =>
    fixed ?? checkTemplate((url as (args: A) => string)(args), at("url"));
  const resultOf = result ?? ((found: unknown) => found as R);
  const standingOf = standing ?? (() => "done" as const);

  async function run(args: A, context: AttemptContext): Promise<R> {
    // Bound before anything is awaited. Its one request is what the tool does, also where that is a GET.
    const bound = attemptFetch(fetch, kind === "read" ? undefined : method);
    const template = templateFor(args);
    // Taken only where it is sent: a key that the service never sees earns nothing.
    const about = {
      get key() {
        return keyForm(context.key);
      },
    };
    const address = urlOf(template, args, about);
    const hasBody = method !== "GET" && method !== "DELETE";
    const sent = body ? body(args, about) : hasBody ? restOf(args, template) : undefined;
    const ownHeader = keyHeader === undefined ? undefined : { [keyHeader]: about.key };
    const { signal } = context;
    const request = { method, url: address, headers, ownHeader, body: sent, signal };
    const answer = await sendRequest(bound, request);
    const made = resultOf(answer.body, answer);
    const wanted = rest.intent ? rest.intent(args) : (args as unknown as I);
    if (standingOf(made, wanted) === "declined") throw declined(answer);
    return made;
  }

  return {
    ...rest,
    kind,
    via: "http",
    input: withCheck(rest.input, (args) => urlOf(templateFor(args), args, { key: "x" })),
    run: standsFor(run, fixed === undefined ? url : `${method} ${new URL(fixed).pathname}`),
    ...(keyed && { keyed }),
    ...(standing && {
      verify: rest.verify ?? ((made, { intent }) => standing(made, intent) === "done"),
    }),
    ...(finding && {
      readState: (query) =>
        findState(
          {
            find: finding,
            keyForm,
            send: (address, { fetch: bound, signal }) =>
              sendRequest(fetch ? attemptFetch(fetch) : bound, {
                method: "GET",
                url: address,
                headers,
                signal,
              }),
            resultOf,
            standingOf,
            idOf,
          },
          query,
        ),
    }),
  };
}

/** The service answered with a success, and with a thing that says no. */
function declined(answer: HttpAnswer): Error {
  const words = serviceWords(undefined, answer.body);
  const why = words ? `The service declined it: ${words}` : "The service declined it.";
  return notApplied(why, { cause: new HttpAnswerError(answer) });
}

const urlOf = (template: string, args: unknown, about: { readonly key: string }): URL =>
  fillUrl(
    template,
    namesIn(template).has("key") ? { ...Object(args), key: about.key } : args,
    "args",
  );

/** The arguments that are not in the address. */
function restOf(args: unknown, template: string): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const used = namesIn(template);
  const left = Object.keys(args).filter((name) => !used.has(name));
  return Object.fromEntries(left.map((name) => [name, peek(args, name)]));
}
