/**
 * Makes untrusted text safe to show: characters that a terminal would interpret, or that a person
 * cannot see or cannot tell from a space, are written as escapes.
 *
 * @module
 */

/** Controls, line separators, bidi and zero-width characters, fillers, odd spaces, selectors, tags. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const codeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);

const escaped = (character: string): string => SHORT[character] ?? `\\u{${codeOf(character)}}`;

/**
 * The text on one line: line breaks are shown as `\n`. Text longer than `longest` is cut and ends
 * with "…".
 */
export function visible(text: string, longest = 500): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(HIDDEN, escaped);
}

/** The same for JSON, with JSON's own escapes. */
export function jsonText(value: unknown, space = 2): string {
  const text = JSON.stringify(value, undefined, space);
  return text.replace(HIDDEN, (character) =>
    character === "\n" ? character : [...unitsOf(character)].join(""),
  );
}

function* unitsOf(character: string): Generator<string> {
  for (let i = 0; i < character.length; i += 1) {
    yield `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
}
