/**
 * What a tool's description says to the model beyond its own words: its side effects.
 *
 * @module
 */

/** The description with `alsoDoes` at its end. */
export function describe(
  description: string | undefined,
  alsoDoes: readonly string[] = [],
): string | undefined {
  if (alsoDoes.length === 0) return description;
  const also = `It also ${alsoDoes.join("; ")}.`;
  return description ? `${description.trimEnd()}\n${also}` : also;
}
