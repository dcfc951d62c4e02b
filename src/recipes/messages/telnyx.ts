/**
 * A Telnyx message. Telnyx replays a success under a known key for up to 24 hours, "on endpoints whose API reference declares"
 * the header (developers.telnyx.com/docs/development/api-fundamentals/idempotency); that the one for messages does was not found in
 * what was read. So the key is always sent, and trusted only where you say that it is declared.
 *
 * @module
 */

import { statusOf } from "../../classify/answer.ts";
import type { ToolWithInput } from "../../engine/define/definition.ts";
import { peek } from "../../lang/peek.ts";
import { keyWindows } from "../key-windows.ts";
import { maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** All of it is the intent. */
export interface TelnyxMessageArguments {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** A message that Telnyx has taken. */
export interface TelnyxMessage {
  readonly id: string;
  /** As Telnyx told it, e.g. `queued`. */
  readonly status?: string | undefined;
}

/** How Telnyx is reached. */
export interface TelnyxAccess extends ServiceAccess {
  /** The reference of `POST /v2/messages` declares `Idempotency-Key` for your account. @default false */
  readonly keyDeclared?: boolean | undefined;
}

/** A message from a number of yours. */
export function telnyxMessage(
  access: TelnyxAccess,
): ToolWithInput<TelnyxMessageArguments, TelnyxMessageArguments, TelnyxMessage> {
  const header = "Idempotency-Key";
  return serviceAt(access, "https://api.telnyx.com").tool({
    name: "telnyx_message",
    service: "telnyx",
    path: "/v2/messages",
    key: access.keyDeclared ? { header, ...keyWindows.telnyx } : header,
    result: (body) => messageOf(peek(body, "data")),
    standing: ({ status }) => (FAILED.has(status) ? "open" : "done"),
    // Without a licence, too: 422 is also told of a key that was used for another request.
    classify: (error) => (statusOf(error) === 422 ? "unknown" : undefined),
    effect: { id: ({ id }) => id },
  });
}

/** The states of a message that did not go out, or did not arrive. */
const FAILED: ReadonlySet<unknown> = new Set(["sending_failed", "delivery_failed", "gw_timeout"]);

const messageOf = (message: unknown): TelnyxMessage => ({
  id: textAt(message, "id"),
  status: maybeTextAt(peek(peek(message, "to"), 0), "status"),
});
