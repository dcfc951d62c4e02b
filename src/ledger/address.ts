/**
 * Reads from a database client which server it talks to, so that two servers with equal names in them
 * are not taken for one ledger. Host, port and database only, never a user or a password.
 *
 * @module
 */

/** `places` are the objects in which a client may keep its settings. */
export function addressOf(name: string, places: readonly unknown[]): string {
  const parts = places.flatMap((place) => FIELDS.map((field) => textOf(place, field)));
  return [...parts.filter((part) => part !== ""), name].join("/");
}

const FIELDS = ["host", "port", "path", "db", "database"];

function textOf(place: unknown, field: string): string {
  if (typeof place !== "object" || place === null) return "";
  const value: unknown = Reflect.get(place, field);
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === "string" || typeof one === "number" ? String(one) : "";
}
