/**
 * Lets in whoever has the token, as one person. For a console on one's own machine.
 *
 * The token travels in a header, not in a cookie: cookies of one port of this machine are sent to every other.
 *
 * @module
 */

import { createHash, timingSafeEqual } from "node:crypto";
import type { ConsoleOptions, ConsolePerson } from "./options.ts";

export function authorizeByToken(
  token: string,
  person: ConsolePerson,
): ConsoleOptions["authorize"] {
  const wanted = digestOf(`Bearer ${token}`);
  return ({ headers }) => {
    const given = digestOf(headers.get("authorization") ?? "");
    return timingSafeEqual(given, wanted) ? person : undefined;
  };
}

/** Of equal length, whatever was sent. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();
