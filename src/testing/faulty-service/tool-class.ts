/**
 * The kinds of service there are, by what a client can hold on to after a lost reply.
 *
 * @module
 */

export type ToolClass =
  | "keyed"
  | "readable"
  /** As `keyed`; for suites in which the tool of `keyed` has no reader, and this one's has. */
  | "keyed_readable"
  /** Takes versions: `If-Match`, and `If-None-Match: *` for a name that is free. */
  | "conditional"
  /** Like e-mail: sent is sent, and no read can tell. */
  | "neither"
  /** Answers 201 and does nothing; its reads tell the truth. */
  | "liar";

/** What a class of service offers: whether it replays a known `Idempotency-Key`, and can be read. */
export const OFFERS: Readonly<
  Record<ToolClass, { readonly keys: boolean; readonly reads: boolean }>
> = {
  keyed: { keys: true, reads: true },
  readable: { keys: false, reads: true },
  keyed_readable: { keys: true, reads: true },
  conditional: { keys: false, reads: true },
  neither: { keys: false, reads: false },
  liar: { keys: false, reads: true },
};

export const isToolClass = (name: string): name is ToolClass => Object.hasOwn(OFFERS, name);

export const TOOL_CLASSES: readonly ToolClass[] = Object.freeze(
  Object.keys(OFFERS).filter(isToolClass),
);
