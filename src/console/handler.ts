/**
 * The console as a function from a request to a response. Read this file first.
 *
 *   request → refused by its headers? → page or file → who is it? → read, follow, or answer
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import { engineOf } from "../engine/engine-of.ts";
import { isHoldfireError } from "../errors.ts";
import { type Answering, answer } from "./api/answers.ts";
import { createFollowers, type Followers } from "./api/changes.ts";
import { detailOf } from "./api/detail.ts";
import { createHealth, type HealthOf } from "./api/health.ts";
import { metricsText } from "./api/metrics.ts";
import { operationsPage } from "./api/operations.ts";
import { inboxOf } from "./api/questions.ts";
import { sessionOf } from "./api/session.ts";
import { fileOf } from "./files.ts";
import {
  type CheckedOptions,
  type ConsoleOptions,
  checkAuthorized,
  checkOptions,
} from "./options.ts";
import { refusalOf } from "./refusal.ts";
import { json, problem, respond } from "./responses.ts";

/** Answers a request for the console: its page, its data, or an answer of a person. */
export type ConsoleHandler = (request: Request) => Promise<Response>;

/** What is kept of one tenant between requests. */
interface Room {
  readonly hf: Holdfire;
  readonly followers: Followers;
  readonly health: HealthOf;
}

/**
 * The console for a holdfire of yours, to be mounted behind your own login: inbox, operations, timelines and health.
 * It decides nothing by itself; a person whom `authorize` allows to decide does.
 */
export function consoleHandler(hf: Holdfire, options: ConsoleOptions): ConsoleHandler {
  const checked = checkOptions(options);
  const own = engineOf(hf).tenant;
  const rooms = new Map<string, Room>();
  function roomOf(tenant: string): Room {
    const room = rooms.get(tenant) ?? openRoom(tenant === own ? hf : hf.forTenant(tenant));
    rooms.set(tenant, room);
    return room;
  }
  roomOf(own);

  return async (request) => {
    try {
      return await handle(request, checked, (tenant) => roomOf(tenant ?? own));
    } catch (error) {
      return failed(error);
    }
  };
}

const openRoom = (hf: Holdfire): Room => ({
  hf,
  followers: createFollowers(hf),
  health: createHealth(hf),
});

async function handle(
  request: Request,
  options: CheckedOptions,
  roomOf: (tenant: string | undefined) => Room,
): Promise<Response> {
  const url = new URL(request.url);
  const refusal = refusalOf(request, url, options);
  if (refusal) return problem(refusal.status, refusal.error, refusal.hint);
  const { path } = options;
  if (url.pathname === path && path !== "") {
    return respond(null, "text/plain", { status: 308, headers: { location: `${path}/` } });
  }
  if (!url.pathname.startsWith(`${path}/`)) return nothingThere();
  const route = url.pathname.slice(path.length + 1);
  const isRead = request.method !== "POST";
  const file = isRead ? await fileOf(route, request) : undefined;
  const person = await options.authorize(request);
  if (person instanceof Response) return person;
  if (file) return file;
  if (!person) {
    const hint = "Open the address that holdfire console printed, or sign in again.";
    return problem(401, "You are not signed in to this console.", hint);
  }
  const { name, mayDecide = false, tenant } = checkAuthorized(person);
  const room = roomOf(tenant);
  if (isRead) return read(route, url.searchParams, { name, mayDecide }, room);
  if (!mayDecide) {
    const hint = "Start it with --decide, or let authorize return mayDecide: true.";
    return problem(403, "This console is read-only for you.", hint);
  }
  return answerTo(route, request, name, room.hf);
}

async function read(
  route: string,
  query: URLSearchParams,
  person: { readonly name: string; readonly mayDecide: boolean },
  { hf, followers, health }: Room,
): Promise<Response> {
  switch (route) {
    case "api/session":
      return json(await sessionOf(hf, person));
    case "api/inbox":
      return json(await inboxOf(hf));
    case "api/operations":
      return json(await operationsPage(hf, query));
    case "api/changes":
      return respond(followers.follow(), "text/event-stream");
    case "api/health":
      return json(await health(query.get("hours")));
    case "metrics":
      return respond(metricsText(await health("24")), "text/plain; version=0.0.4; charset=utf-8");
  }
  const id = /^api\/operations\/([^/]{1,256})$/.exec(route)?.[1];
  const detail = id === undefined ? undefined : await detailOf(hf, decoded(id));
  return detail ? json(detail) : nothingThere();
}

async function answerTo(
  route: string,
  request: Request,
  name: string,
  hf: Holdfire,
): Promise<Response> {
  const [, id, action] = /^api\/operations\/([^/]{1,256})\/([a-z_]{1,20})$/.exec(route) ?? [];
  if (id === undefined || action === undefined) return nothingThere();
  const given: Answering = { id: decoded(id), action, by: name, request };
  return answer(hf, given);
}

const nothingThere = (): Response =>
  problem(404, "There is nothing here.", "It may belong to another tenant, or have been pruned.");

/** An id that is not well formed is the id of nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function failed(error: unknown): Response {
  if (!isHoldfireError(error)) {
    return problem(500, "The console failed.", "Its program's own log may say why.");
  }
  const { code, message } = error;
  if (code === "ERR_HOLDFIRE_INVALID_INPUT") return problem(400, message);
  const isDown = code === "ERR_HOLDFIRE_STORE_UNAVAILABLE" || code === "ERR_HOLDFIRE_CLOSED";
  return problem(isDown ? 503 : 500, isDown ? "The ledger does not answer." : message);
}
