/**
 * A hidden mark in a text that people read: an HTML comment, which Markdown does not show.
 *
 * @module
 */

const OPENING = "<!-- holdfire:";

/** The text with the mark below it. A mark that was in the text already is one no longer. */
export function markText(text: string | undefined, key: string): string {
  const plain = (text ?? "").replaceAll(OPENING, "<!-- holdfire ");
  return `${plain}\n\n${markOf(key)}`;
}

/** Whether the text carries the mark of one of these keys. */
export const isMarked = (text: string | undefined, keys: readonly string[]): boolean =>
  text !== undefined && keys.some((key) => text.includes(markOf(key)));

const markOf = (key: string): string => `${OPENING}${key} -->`;
