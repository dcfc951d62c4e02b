/**
 * A mail by SendGrid. The key goes into its custom arguments, which only the Email Activity API can look up:
 * an add-on that many accounts do not have. Without it, a mail whose reply is lost stays unknown.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import { peek } from "../lang/peek.ts";
import { type MailArguments, type MailIntent, mailIntent } from "./mail.ts";
import { readingOf } from "./read-list.ts";
import { callService, listAt, type ServiceAccess, textAt } from "./service.ts";

/** A mail that SendGrid has taken. */
export interface SendgridMail {
  /** From the answer it is the X-Message-Id, from a read the longer `msg_id`. */
  readonly messageId: string;
}

/** How SendGrid is reached. */
export interface SendgridAccess extends ServiceAccess {
  /** The account has the Email Activity API, and the token may use it. @default false */
  readonly activity?: boolean | undefined;
}

const USUAL = "https://api.sendgrid.com";
const MARK = "holdfire_key";
const MOST = 10;

/** A mail to one recipient. */
export function sendgridMail(
  access: SendgridAccess,
): ToolWithInput<MailArguments, MailIntent, SendgridMail> {
  const find = async (key: string, signal: AbortSignal): Promise<readonly unknown[]> => {
    const query = { query: `unique_args['${MARK}']="${key}"`, limit: `${MOST}` };
    const request = { method: "GET", path: "/v3/messages", query, signal } as const;
    return listAt((await callService(access, USUAL, request)).body, "messages");
  };
  return {
    name: "sendgrid_mail",
    kind: "write",
    service: "sendgrid",
    input: typed<MailArguments>(),
    intent: mailIntent,
    run: async ({ from, to, subject, text, html }, { key, signal }) => {
      const content = [
        { type: "text/plain", value: text },
        ...(html === undefined ? [] : [{ type: "text/html", value: html }]),
      ];
      const json = {
        personalizations: [{ to: [{ email: to }] }],
        from: { email: from },
        subject,
        content,
        custom_args: { [MARK]: key },
      };
      const request = { method: "POST", path: "/v3/mail/send", json, signal } as const;
      const { headers } = await callService(access, USUAL, request, codeOf);
      return { messageId: headers.get("x-message-id") ?? "" };
    },
    ...(access.activity && {
      readState: async ({ keys, signal }) => {
        const found = (await Promise.all(keys.map((key) => find(key, signal)))).flat();
        return readingOf({ found, complete: true }, mailOf, ({ messageId }) => messageId);
      },
    }),
  };
}

const mailOf = (message: unknown): SendgridMail => ({ messageId: textAt(message, "msg_id") });

const codeOf = (body: unknown): unknown => peek(peek(peek(body, "errors"), 0), "field");
