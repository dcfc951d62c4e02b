/**
 * Recognises an error about the idempotency key, in contrast to one about the request.
 *
 * Looks at the fields `code`, `type` and `rawType` of the error and of what SDKs nest in it (`raw`,
 * `error`, `body`, `data`, `response`, the items of `errors`), and there for the letters
 * "idempoten": `idempotency_error` (Stripe), `IDEMPOTENCY_KEY_REUSED` (Square), the problem type
 * `https://…/idempotency`. It never reads a message. A match only turns a proof into a doubt, so it
 * is broad.
 *
 * @module
 */

import { peek, peekItems } from "../lang/peek.ts";

const MAX_DEPTH = 3;
const MAX_ITEMS = 8;
const MAX_LENGTH = 256;
const NAMES = ["code", "type", "rawType"];
const NESTS = ["raw", "error", "body", "data", "response"];

export function isKeyError(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return false;
  return (
    NAMES.some((name) => namesKey(peek(error, name))) ||
    NESTS.some((nest) => isKeyError(peek(error, nest), depth + 1)) ||
    peekItems(peek(error, "errors"), MAX_ITEMS).some((item) => isKeyError(item, depth + 1))
  );
}

const namesKey = (name: unknown): boolean =>
  typeof name === "string" && name.length <= MAX_LENGTH && name.toLowerCase().includes("idempoten");
