/**
 * Array literals of Postgres: text that both clients pass on as it is.
 *
 * @module
 */

export const numbers = (values: readonly (number | undefined)[]): string =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`;

/** Of what needs no quotes: uuids and words of our own. */
export const words = (values: readonly (string | undefined)[]): string =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`;

/** Of any text. */
export const texts = (values: readonly (string | undefined)[]): string =>
  `{${values.map((value) => (value === undefined ? "NULL" : quoted(value))).join(",")}}`;

/** One text a line, none as an empty line. For JSON, which never holds a line break. */
export const lines = (values: readonly (string | undefined)[]): string => values.join("\n");

const quoted = (text: string): string =>
  text.includes('"') || text.includes("\\")
    ? `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
    : `"${text}"`;
