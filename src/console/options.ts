/**
 * The options of the console, and who may see and decide in it.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { checkPerson, checkTenant } from "../key/check-name.ts";

/** A person whom `authorize` let in. */
export interface ConsolePerson {
  /** Recorded with every answer. It comes from your login, never from the page. */
  readonly name: string;
  /** Whether the person may approve, deny, resolve and have the service read. @default false */
  readonly mayDecide?: boolean | undefined;
  /** Whose operations the person sees. @default the tenant of the holdfire that was given */
  readonly tenant?: string | undefined;
}

export interface ConsoleOptions {
  /**
   * Says who sends a request, by your own session or token. `undefined`: refused with 401. A `Response` is sent as it is,
   * e.g. a redirect to your login. Called for every request of data; for the page itself only a `Response` counts, since
   * the page has no data.
   */
  readonly authorize: (
    request: Request,
  ) => ConsolePerson | Response | undefined | Promise<ConsolePerson | Response | undefined>;
  /** Where it is mounted, e.g. `"/admin/holdfire"`. @default "/" */
  readonly path?: string | undefined;
  /**
   * The origin as browsers see it, e.g. `"https://ops.example.com"`, where a proxy changes the host.
   *
   * @default the host of each request
   */
  readonly origin?: string | undefined;
  /** The only host names it answers under, with the port: keeps out a foreign name that resolves to this machine. @default any */
  readonly hosts?: readonly string[] | undefined;
}

/** The options, checked; `path` has no slash at its end. */
export interface CheckedOptions {
  readonly authorize: ConsoleOptions["authorize"];
  readonly path: string;
  /** The host of `origin`. */
  readonly host: string | undefined;
  readonly hosts: readonly string[] | undefined;
}

export function checkOptions(options: ConsoleOptions): CheckedOptions {
  const { authorize, path = "/", origin, hosts } = Object(options) as ConsoleOptions;
  if (typeof authorize !== "function") {
    throw new InvalidInputError("console.authorize", "must be a function that names the person.");
  }
  if (typeof path !== "string" || !/^\/[\w./~-]{0,200}$/.test(path)) {
    throw new InvalidInputError("console.path", 'must begin with a slash, e.g. "/admin/holdfire".');
  }
  const url = origin === undefined ? undefined : URL.parse(origin);
  if (url === null) {
    throw new InvalidInputError("console.origin", 'must be like "https://ops.example.com".');
  }
  return { authorize, path: path.replace(/\/$/, ""), host: url?.host, hosts };
}

/** What `authorize` returned, if it is a person: a name that the ledger would not take is an error here, not later. */
export function checkAuthorized(person: ConsolePerson): ConsolePerson {
  checkPerson(person.name);
  if (person.tenant !== undefined) checkTenant(person.tenant);
  return person;
}
