/**
 * From what `fetch` is called with to a request whose body is bytes, and which can be sent again.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Clock } from "../../lang/clock.ts";
import { withTimeLimit } from "../../lang/clock.ts";
import { membersOf } from "../../wire/request-identity.ts";
import { type Body, formDigest, takeBody } from "./body.ts";
import { type BodyPrint, digestBytes, printBody } from "./body-print.ts";
import type { FetchRequest, Settings } from "./options.ts";

export type Input = Parameters<typeof globalThis.fetch>[0];
export type Init = Parameters<typeof globalThis.fetch>[1];

export interface Prepared {
  readonly request: FetchRequest & { readonly body: Uint8Array<ArrayBuffer> | undefined };
  /** What the body stands for; `null` without one. */
  readonly print: BodyPrint | null;
  /** Of the very bytes; of a form, of what it holds. */
  readonly sha256: string | undefined;
  readonly redirect: Request["redirect"];
  readonly signal: AbortSignal | undefined;
  /** Whatever else the platform, or another fetch, was to be told. */
  readonly rest: RequestInit;
}

/**
 * The platform itself judges the URL, the method and the headers, with its own errors. All but the body is read at once; a
 * promise only where the body is no text, or is a form.
 */
export function prepare(
  input: Input,
  init: Init,
  { maxBodyBytes, deadlineMs }: Settings,
  clock: Clock,
): Prepared | Promise<Prepared> {
  const own = membersOf(init);
  const given = own.body ?? undefined;
  const shell = new Request(input, given === undefined ? own : { ...own, body: PLACE_HOLDER });
  const source = given ?? shell.body ?? undefined;
  const { signal, rest } = split(input, own, shell);
  signal?.throwIfAborted();
  const reading = source === undefined ? undefined : takeBody(source, maxBodyBytes)(signal);
  const url = new URL(shell.url);
  url.hash = "";
  const withBody = (body: Body | undefined): Prepared | Promise<Prepared> => {
    const headers = new Headers(shell.headers);
    if (body?.contentType !== undefined && !headers.has("content-type")) {
      headers.set("content-type", body.contentType);
    }
    const contentType = headers.get("content-type") ?? "";
    const bytes = body?.bytes;
    const withForm = (form: string | undefined): Prepared => ({
      request: {
        method: shell.method.toUpperCase(),
        url: url.href,
        headers,
        body: bytes,
        text: () => Buffer.from(bytes ?? []).toString("utf8"),
      },
      print: bytes ? (form === undefined ? printBody(bytes, contentType) : { sha256: form }) : null,
      sha256: form ?? (bytes && digestBytes(bytes)),
      redirect: shell.redirect,
      signal,
      rest,
    });
    const form = body?.form ?? (bytes && formDigest(bytes, contentType));
    return form instanceof Promise ? form.then(withForm) : withForm(form);
  };
  return reading instanceof Promise
    ? inTime(reading, deadlineMs, clock).then(withBody)
    : withBody(reading);
}

/** Has a body, and so makes the platform refuse a GET with one; has no content type. */
const PLACE_HOLDER = new Uint8Array(0);

function split(
  input: Input,
  init: RequestInit,
  shell: Request,
): { readonly signal: AbortSignal | undefined; readonly rest: RequestInit } {
  const { method: _m, headers: _h, body: _b, signal, redirect: _r, ...rest } = init;
  const own = input instanceof Request ? input.signal : undefined;
  const { integrity } = shell;
  return {
    signal: signal === null ? undefined : (signal ?? own),
    rest: integrity === "" ? rest : { ...rest, integrity },
  };
}

async function inTime<T>(reading: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  const read = await withTimeLimit(clock, timeoutMs, reading);
  if (read.tag === "done") return read.value;
  if (read.tag === "failed") throw read.error;
  throw new InvalidInputError("init.body", `did not end within ${timeoutMs} ms.`);
}
