/**
 * One request, from its arrival to the reply.
 *
 *   receive → route → read the intent → draw the fault → log the arrival → reply under the fault
 *
 * A request the service would refuse anyway uses up no fault.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { applyFault, applyReadFault, type FaultPlan } from "./apply-fault.ts";
import { begin, type KeyMemory } from "./execute.ts";
import type { Fault, ReadFault } from "./faults.ts";
import {
  type Arrival,
  effectBody,
  effectsOf,
  type Logs,
  recordOf,
  search,
  versionOf,
} from "./logs.ts";
import { type Answer, answer, errorAnswer, type Reply, send } from "./reply.ts";
import type { Timers } from "./timers.ts";
import { isToolClass, OFFERS, type ToolClass } from "./tool-class.ts";

export interface ServiceParts {
  readonly now: () => number;
  readonly logs: Logs;
  readonly keys: KeyMemory;
  readonly timers: Timers;
  readonly writeFaults: FaultPlan<Fault>;
  readonly readFaults: FaultPlan<ReadFault>;
}

export async function handle(request: IncomingMessage, parts: ServiceParts): Promise<Reply> {
  const body = await receive(request);
  const { method = "", url: path = "" } = request;
  const to = route(method, path);

  if (to.tag === "list" || to.tag === "record") {
    const { logs, now } = parts;
    const fault = parts.readFaults.next();
    logs.arriveRead({ method, path, fault });
    return applyReadFault(fault, (asOf) => readState(to, logs, asOf), now);
  }
  if (method === "GET" || method === "HEAD") {
    parts.logs.arriveRead({ method, path, fault: undefined });
    return send(refusal(to));
  }
  return write(to, request, body, parts);
}

/** The largest body the service takes, in bytes. */
const LARGEST = 2 ** 20;

/** Returns `undefined` if the body is too large. Rejects if the client leaves in the middle of it. */
async function receive(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The rest of a body too large is read and thrown away: the client sends it all before it listens.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LARGEST) chunks.push(chunk);
  }
  return size <= LARGEST ? Buffer.concat(chunks).toString("utf8") : undefined;
}

type ReadRoute =
  | { readonly tag: "list"; readonly class: ToolClass; readonly query: URLSearchParams }
  | { readonly tag: "record"; readonly name: string };

type OtherRoute =
  | { readonly tag: "write"; readonly class: ToolClass; readonly record: string | undefined }
  /** The place exists, the method does not. */
  | { readonly tag: "not_allowed"; readonly allow: string }
  | { readonly tag: "nowhere" }
  /** The target is not one at all. */
  | { readonly tag: "garbage" };

function route(method: string, target: string): ReadRoute | OtherRoute {
  // Only a path of our own: an absolute or scheme-relative target would name another host.
  if (!target.startsWith("/") || target.startsWith("//")) return { tag: "garbage" };
  try {
    const { pathname, searchParams: query } = new URL(target, "http://127.0.0.1");
    const [to = "", place, name, ...more] = pathname.slice(1).split("/").map(decodeURIComponent);
    if (!isToolClass(to) || more.length > 0) return { tag: "nowhere" };
    if (place === "effects" && name === undefined) {
      if (method === "POST") return { tag: "write", class: to, record: undefined };
      const { reads } = OFFERS[to];
      if (method === "GET" && reads) return { tag: "list", class: to, query };
      return { tag: "not_allowed", allow: reads ? "GET, POST" : "POST" };
    }
    if (to !== "conditional" || place !== "records" || !name) return { tag: "nowhere" };
    if (method === "PUT") return { tag: "write", class: to, record: name };
    if (method === "GET") return { tag: "record", name };
    return { tag: "not_allowed", allow: "GET, PUT" };
  } catch {
    return { tag: "garbage" };
  }
}

function refusal(to: OtherRoute): Answer {
  if (to.tag === "garbage") return errorAnswer(400, "bad_target");
  if (to.tag === "not_allowed") return errorAnswer(405, "not_allowed", { allow: to.allow });
  return errorAnswer(404, "not_found");
}

function readState(to: ReadRoute, { effects }: Logs, asOf?: number): Answer {
  if (to.tag === "list") {
    const known = effectsOf(effects, to.class, asOf);
    const found = search(known, to.query).map(effectBody);
    return answer(200, found, { etag: versionOf(known) });
  }
  const { name } = to;
  const record = recordOf(effectsOf(effects, "conditional", asOf), name);
  if (record === undefined) return errorAnswer(404, "not_found");
  const { value, version: etag } = record;
  return answer(200, { name, value, etag }, { etag });
}

function write(
  to: OtherRoute,
  request: IncomingMessage,
  body: string | undefined,
  { logs, keys, timers, writeFaults }: ServiceParts,
): Reply {
  const { method = "", url: path = "" } = request;
  const key = header(request, "idempotency-key");
  const read = body === undefined ? undefined : readIntent(body);
  const facts: Omit<Arrival, "seq" | "at"> = {
    method,
    path,
    key,
    intent: read?.intent,
    identity: read?.identity,
    body: body ?? "",
    fault: undefined,
  };

  if (to.tag !== "write" || read === undefined) {
    logs.arrive(facts);
    if (to.tag !== "write") return send(refusal(to));
    return send(body === undefined ? errorAnswer(413, "too_large") : errorAnswer(400, "not_json"));
  }

  const fault = writeFaults.next();
  const ifMatch = header(request, "if-match");
  const ifNoneMatch = header(request, "if-none-match");
  const arrive = () => {
    const arrival = logs.arrive({ ...facts, fault }).seq;
    const { class: toolClass, record } = to;
    const precondition = { ifMatch, ifNoneMatch };
    return () =>
      begin({ class: toolClass, record, key, ...read, precondition, arrival }, logs, keys);
  };
  // The first arrival is logged now, whenever it reaches the service.
  return applyFault(fault, { begin: arrive(), beginAgain: () => arrive()() }, timers);
}

/** An empty header says nothing. */
function header(request: IncomingMessage, name: string): string | undefined {
  const value = [request.headers[name]].flat().join(", ");
  return value === "" ? undefined : value;
}

interface Intent {
  readonly intent: unknown;
  /** The same for equal intents, whatever the order of their fields. */
  readonly identity: string;
}

/** Deeper than any honest body, and far less than what would exhaust the stack. */
const DEEPEST = 200;

/** Returns `undefined` if the text is not JSON, or nested too deep. */
function readIntent(text: string): Intent | undefined {
  try {
    const intent: unknown = JSON.parse(text);
    if (!freezeWithin(intent, DEEPEST)) return undefined;
    return { intent, identity: JSON.stringify(intent, sortFields) };
  } catch {
    return undefined;
  }
}

/** Frozen, because it goes into the logs. Says whether it is at most `levels` deep. */
function freezeWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  Object.freeze(value);
  return Object.values(value).every((inner) => freezeWithin(inner, levels - 1));
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
