/**
 * An address with names in braces, filled with values: `https://api.example/payments/{paymentId}/refunds`.
 *
 * A value is encoded, and can leave neither its place in the path nor the origin: a model may have written it.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { peek } from "../lang/peek.ts";

const NAME = /\{([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** The names in braces, each once. */
export const namesIn = (template: string): ReadonlySet<string> =>
  new Set([...template.matchAll(NAME)].map(([, name = ""]) => name));

/** Refuses an address whose origin a value could choose. */
export function checkTemplate(template: unknown, path: string): string {
  if (typeof template !== "string") throw new InvalidInputError(path, "must be an address.");
  const url = URL.parse(template.replaceAll(NAME, "x"));
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new InvalidInputError(path, "must be an address that begins with https:// or http://.");
  }
  const origin = template.slice(
    0,
    template.indexOf("/", template.indexOf("//") + 2) + 1 || undefined,
  );
  if (namesIn(origin).size > 0) {
    throw new InvalidInputError(path, "may have names in braces after its origin only.");
  }
  return template;
}

/** The address, with the value of each name in its place. `path` says whose values they are, e.g. `args`. */
export function fillUrl(template: string, values: unknown, path: string): URL {
  const filled = template.replaceAll(NAME, (_, name: string) =>
    encodeURIComponent(textOf(peek(values, name), `${path}.${name}`)),
  );
  const [place = ""] = filled.split(/[?#]/, 1);
  if (place.split("/").some((segment) => DOTS.test(segment))) {
    throw new InvalidInputError(path, "must not make `.` or `..` a part of the address.");
  }
  return new URL(filled);
}

function textOf(value: unknown, path: string): string {
  const text = typeof value === "string" ? value : shortText(value);
  if (text === undefined || text === "") {
    throw new InvalidInputError(path, "must be a text or a number: it is part of the address.");
  }
  if (/\p{Cs}/u.test(text)) throw new InvalidInputError(path, "is not well-formed Unicode.");
  return text;
}

const shortText = (value: unknown): string | undefined =>
  typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
    ? `${value}`
    : undefined;
