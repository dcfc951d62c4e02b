/**
 * What every recipe says of itself, and how long the services remember a key.
 *
 * A recipe is a whole tool definition. What it cannot know is told in words here, because a tool's
 * options have no place for it.
 *
 * @module
 */

/** What a recipe knows and does not know, in short sentences for people. */
export interface RecipeFacts {
  /** Where the key is put. */
  readonly keyGoes: string;
  /** How long a repeated key is recognised by the service. */
  readonly window: string;
  /** How the state is read. */
  readonly reads: string;
  /** What no reader of this service can tell. */
  readonly cannotKnow: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long a service remembers a key, by its own documentation: what `keyed` wants. */
export const keyWindows: {
  /** "At least 24 hours". */
  readonly stripeV1: { readonly forMs: number };
  /** API v2 only. No recipe here uses it. */
  readonly stripeV2: { readonly forMs: number };
  readonly resend: { readonly forMs: number };
  /** A row is a memory for as long as nobody deletes it; a day is what a resend needs. */
  readonly sqlRow: { readonly forMs: number };
} = {
  stripeV1: { forMs: DAY_MS },
  stripeV2: { forMs: 30 * DAY_MS },
  resend: { forMs: DAY_MS },
  sqlRow: { forMs: DAY_MS },
};
