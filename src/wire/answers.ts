/**
 * What was observed of the requests of an attempt, and how each ended: a redirect that was followed with its
 * method, and a login that was asked for, are one request with what came of it.
 *
 * @module
 */

/** What was observed of one physical request. */
export interface WireRequest {
  readonly transport: "undici" | "http" | "http2" | "fetch";
  readonly origin: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The whole address, to compare; not kept after the attempt and never shown. */
  readonly href: string;
  /** Tells its body from another: a digest where the attempt's own `fetch` has sent it, else its length, if that is known. */
  readonly body?: string | undefined;
  /** The number, from 0, of the request whose redirect this one follows. */
  readonly hopOf?: number | undefined;
  /** The number of the request that was turned away (401, 407), which this one is with other credentials. */
  readonly againOf?: number | undefined;
  /** Sent through the attempt's own `fetch`: it belongs to it for certain. */
  readonly bound?: boolean | undefined;
  /** What the tool says is no part of the effect. */
  readonly ignored?: boolean | undefined;
  /** It is the very request that the tool declares as its effect, whatever its method. */
  readonly effect?: boolean | undefined;
  /** The status of its answer, once there is one. */
  readonly status?: number | undefined;
  /** It has neither an answer nor an error yet. */
  readonly open: boolean;
  /** It failed before a byte of it was sent. */
  readonly unsent?: boolean | undefined;
  /** What it failed with. */
  readonly error?: unknown;
}

/**
 * The status in answer to a request, across hops that kept its method and across its login. A hop from
 * POST to GET only fetches a page afterwards: its status proves nothing about the POST.
 */
export const answerOf = (requests: readonly WireRequest[], number: number): number | undefined =>
  requests[lastOf(requests, number)]?.status;

function lastOf(requests: readonly WireRequest[], number: number): number {
  const { method } = requests[number] ?? {};
  const next = requests.findIndex(
    ({ hopOf, againOf, ...each }) =>
      (hopOf === number || againOf === number) && each.method === method,
  );
  return next < 0 ? number : lastOf(requests, next);
}

/** One for each request that is not the continuation of another. */
export function answersIn(requests: readonly WireRequest[]): readonly WireRequest[] {
  const isFirst = ({ hopOf, againOf, method }: WireRequest) =>
    requests[hopOf ?? againOf ?? -1]?.method !== method;
  return requests.flatMap((request, number) => {
    const last = requests[lastOf(requests, number)] ?? request;
    return isFirst(request) ? [{ ...last, href: askedFor(request) }] : [];
  });
}

/** Many services have one address for all: what is asked for is in the body. */
const askedFor = ({ href, body }: WireRequest): string =>
  body === undefined ? href : `${href}#${body}`;

/** Whether a read was answered, by what it asked for or by "there is none". */
export const isReadAnswer = (status: number | undefined): boolean =>
  status !== undefined && ((status >= 200 && status < 300) || status === 404);
