/**
 * @module
 */

/** A value as the ledger keeps it. */
export interface Payload {
  /** How `text` is to be read. */
  readonly form: "json" | "undefined" | "response";
  readonly text: string;
  /** Set when `text` is AES-256-GCM: the id of the key it was sealed with. */
  readonly sealedWith?: string | undefined;
}
