/**
 * A mail by Resend, which knows a key for 24 hours and answers it with the first result.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import { peek } from "../lang/peek.ts";
import { keyWindows } from "./facts.ts";
import { type MailArguments, type MailIntent, mailIntent } from "./mail.ts";
import { callService, type ServiceAccess, textAt } from "./service.ts";

/** A mail that Resend has taken. */
export interface ResendMail {
  readonly id: string;
}

/** A mail to one recipient. */
export function resendMail(
  access: ServiceAccess,
): ToolWithInput<MailArguments, MailIntent, ResendMail> {
  return {
    name: "resend_mail",
    kind: "write",
    service: "resend",
    input: typed<MailArguments>(),
    intent: mailIntent,
    keyed: keyWindows.resend,
    run: async ({ from, to, subject, text, html }, { key, signal }) => {
      const json = { from, to: [to], subject, text, html };
      const headers = { "idempotency-key": key };
      const request = { method: "POST", path: "/emails", json, headers, signal } as const;
      const { body } = await callService(access, "https://api.resend.com", request, codeOf);
      return { id: textAt(body, "id") };
    },
    effectIdOf: ({ id }) => id,
  };
}

const codeOf = (body: unknown): unknown => peek(body, "name");
