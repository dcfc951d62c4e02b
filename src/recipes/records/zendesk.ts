/**
 * A Zendesk ticket. The key goes out as the idempotency key, which Zendesk knows for two hours, and as the ticket's external id,
 * by which it is found for longer.
 *
 * Source: developer.zendesk.com/api-reference/ticketing/introduction, section "Idempotency" (creating tickets only; another body
 * under a known key is 400, IdempotentRequestError), and /api-reference/ticketing/tickets/tickets (`external_id`).
 *
 * @module
 */

import { statusOf } from "../../classify/answer.ts";
import type { ToolWithInput } from "../../engine/define/definition.ts";
import { peek } from "../../lang/peek.ts";
import { keyWindows } from "../key-windows.ts";
import { type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** Text, tags and priority are no part of the intent. */
export interface ZendeskTicketArguments {
  readonly subject: string;
  readonly body: string;
  readonly requester?: { readonly name?: string; readonly email: string };
  readonly priority?: "urgent" | "high" | "normal" | "low";
  readonly tags?: readonly string[];
}

/** A ticket of this subject is wanted once. */
export type ZendeskTicketIntent = Pick<ZendeskTicketArguments, "subject" | "requester">;

/** A ticket that is there. */
export interface ZendeskTicket {
  readonly id: string;
  readonly url: string;
}

/** A ticket. `baseUrl` is your account, e.g. `https://acme.zendesk.com`. */
export function zendeskTicket(
  access: ServiceAccess & { readonly baseUrl: string },
): ToolWithInput<ZendeskTicketArguments, ZendeskTicketIntent, ZendeskTicket> {
  return serviceAt(access, access.baseUrl).tool({
    name: "zendesk_ticket",
    service: "zendesk",
    intent: ({ subject, requester }) => ({ subject, ...(requester && { requester }) }),
    path: "/api/v2/tickets",
    key: { header: "Idempotency-Key", ...keyWindows.zendesk },
    body: ({ body, ...ticket }, { key }) => ({
      ticket: { ...ticket, comment: { body }, external_id: key },
    }),
    find: { url: "/api/v2/tickets?external_id={key}", list: "tickets" },
    // An error of the ticket, not of the key: that one is 400.
    classify: (error) =>
      statusOf(error) === 422 && peek(error, "code") === "RecordInvalid" ? "rejected" : undefined,
    result: (body) => ticketOf(peek(body, "ticket") ?? body),
    effect: { id: ({ id }) => id },
  });
}

const ticketOf = (ticket: unknown): ZendeskTicket => ({
  id: textAt(ticket, "id"),
  url: textAt(ticket, "url"),
});
