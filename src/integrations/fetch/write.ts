/**
 * A request that writes: an operation, named by scope, method, URL and body, which carries its key.
 *
 * What may be sent, and what an answer proves, is decided by the engine. Here the key is put on the request, and what became
 * of the operation is turned into what the caller of a `fetch` expects: the service's answer, one in its place, or an error,
 * also where the key turns out to belong to another request.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { bufferResponse } from "../../engine/outcome/response.ts";
import { InvalidInputError, isHoldfireError, KeyConflictError } from "../../errors.ts";
import { digestText } from "../../key/digest.ts";
import type { Json } from "../../key/json.ts";
import { ignoreRejection } from "../../lang/peek.ts";
import { isCleared } from "../../ledger/record.ts";
import { follow, type Send } from "../../wire/follow.ts";
import { failureOf, finalOf, isKeyConflict, noAgain, responseOf, withUrl } from "./answer.ts";
import { declarationsOf, type FetchArguments, type FetchPolicy, type Settings } from "./options.ts";
import type { Prepared } from "./request.ts";

const CONDITIONS = ["if-match", "if-none-match", "if-unmodified-since"];
/**
 * E.g. `stripe-account`, `stripe-context`, `openai-organization`, `openai-project`, `xero-tenant-id`. Nothing that changes from
 * request to request, as `x-cloud-trace-context` does, and no token, which is renewed.
 */
const ACCOUNT =
  /^stripe-context$|(?:^|-)(?:account|tenant|organi[sz]ation|org|project|workspace)(?:-id)?$/;
const LONGEST_NAME = 128;

export async function sendWrite(
  prepared: Prepared,
  policy: FetchPolicy & { readonly kind: "write" | "destructive" },
  settings: Settings,
  send: (signal: AbortSignal) => Send,
  hf: Holdfire,
): Promise<Response> {
  const { request, redirect, signal } = prepared;
  const { keyHeader, quoted } = settings;
  const key = callerKey(request.headers, settings);
  const condition = conditionOf(request.headers);
  /** The answers that were no yes, in the order in which they came. */
  const answers: Response[] = [];
  const args: FetchArguments = {
    method: request.method,
    url: request.url,
    body: prepared.print,
    intent: policy.intent && intentOf(policy.intent(request)),
    account: accountOf(request.headers),
    sha256: prepared.sha256,
    condition,
  };
  const run = async (_: FetchArguments, context: { key: string; signal: AbortSignal }) => {
    const headers = new Headers(request.headers);
    headers.set(keyHeader, quoted ? `"${context.key}"` : context.key);
    const outgoing = { ...request, headers };
    const sender = send(context.signal);
    const { response, refusal } = await follow(outgoing, redirect, keyHeader, sender);
    if (response.ok) return response;
    const { maxBytes } = engineOf(hf).codec;
    const limits = { maxBytes, signal: context.signal };
    const { response: whole, kept } = await bufferResponse(response, limits);
    answers.push(whole);
    if (refusal) throw refusal;
    // One whose body broke off is handed on as it is, so that it is not judged by half of what it said.
    return kept ? whole.clone() : response;
  };
  const { scope, again, retry } = policy;
  try {
    const result = await hf.run<FetchArguments, unknown, Json>({
      service: new URL(request.url).origin,
      ...declarationsOf(policy),
      precondition: policy.conditional && condition !== undefined ? "given" : undefined,
      name: nameOf(prepared, policy.kind, settings),
      kind: policy.kind,
      via: "http",
      intent: ({ method, url, body, intent, account }) =>
        intent === undefined
          ? ({ method, url, body, ...(account && { account }) } as Json)
          : intent,
      run,
      args,
      ...{ scope, again, retry, key, signal },
    });
    return responseOf(result, request.url);
  } catch (error) {
    return told(error, answers, policy, prepared, settings, hf);
  }
}

/** One name for one kind of request to one service: what is learned of one is not held against another. */
function nameOf({ request }: Prepared, kind: string, { name }: Settings): string {
  const { origin } = new URL(request.url);
  const suffix = kind === "write" ? "" : ` (${kind})`;
  const full = `${name} ${request.method} ${origin}${suffix}`;
  if (full.length <= LONGEST_NAME) return full;
  return `${name.slice(0, 40)} ${digestText("fetch-name", full)}${suffix}`;
}

/** Nothing said is no intent: it would make all requests one. */
function intentOf(said: Json): Json {
  if (said === undefined) throw new InvalidInputError("intent()", "must not be undefined.");
  return ignoreRejection(said);
}

function callerKey(headers: Headers, { keyHeader, callerKey: policy }: Settings) {
  const given = headers.get(keyHeader);
  if (given === null || policy === "replace") return undefined;
  if (policy === "use") return given;
  throw new InvalidInputError(
    `init.headers.${keyHeader}`,
    `is set by holdfire. Leave it out, or say what it means: callerKey: "replace" (ours goes in its place) or "use" (it names the operation).`,
  );
}

const conditionOf = (headers: Headers): Json | undefined =>
  chosen(headers, (name) => CONDITIONS.includes(name));

/** Whose the write is, where a header says so. */
const accountOf = (headers: Headers): Json | undefined =>
  chosen(headers, (name) => ACCOUNT.test(name));

function chosen(headers: Headers, isChosen: (name: string) => boolean): Json | undefined {
  const given = [...headers].filter(([name]) => isChosen(name));
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

/** A no of the service is an answer. What is not known, or was not sent, is an error. */
async function told(
  error: unknown,
  answers: readonly Response[],
  policy: FetchPolicy,
  { request, signal }: Prepared,
  settings: Settings,
  hf: Holdfire,
): Promise<Response> {
  if (!isHoldfireError(error)) throw error;
  const { operation } = error;
  const last = answers.at(-1);
  if (error.code === "ERR_HOLDFIRE_NOT_APPLIED" && operation) {
    if (error.reason === "aborted") signal?.throwIfAborted();
    const isNo = error.reason === "rejected" || error.reason === "refused";
    // An earlier answer than the one that decided is not returned in its place.
    const decided = last && (error.serviceStatus ?? last.status) === last.status;
    if (isNo && decided) return finalOf(withUrl(last, request.url));
    const status = isNo ? (error.serviceStatus ?? (await lastStatus(operation.id, hf))) : undefined;
    if (status !== undefined) {
      return withUrl(noAgain(status, operation, error.reason ?? ""), request.url);
    }
  }
  const isUnknown = error.code === "ERR_HOLDFIRE_OUTCOME_UNKNOWN" && policy.keyed !== undefined;
  const conflict =
    isUnknown &&
    operation &&
    last &&
    (await isKeyConflict(last)) &&
    (await onlyNo(operation.id, hf));
  const final = conflict ? new KeyConflictError(operation) : error;
  if (settings.failures === "respond") return withUrl(failureOf(final), request.url);
  throw final;
}

async function lastStatus(id: string, hf: Holdfire): Promise<number | undefined> {
  const view = await hf.operations.get(id).catch(() => undefined);
  const status = view?.attempts.at(-1)?.status;
  return status !== undefined && status >= 300 ? status : undefined;
}

/** Every attempt that is in doubt was told so: none of them can have been a yes. */
async function onlyNo(id: string, hf: Holdfire): Promise<boolean> {
  const view = await hf.operations.get(id).catch(() => undefined);
  const doubtful = view?.attempts.filter((attempt) => !isCleared(attempt)) ?? [];
  return doubtful.length > 0 && doubtful.every(({ status }) => status === 422 || status === 400);
}
