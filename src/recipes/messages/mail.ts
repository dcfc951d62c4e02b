/**
 * A mail by Resend or SendGrid, and a mail as every mail recipe takes it.
 *
 * Resend knows a key for 24 hours and answers it with the first result (resend.com/docs/dashboard/emails/idempotency-keys).
 * SendGrid takes the key as a custom argument, which
 * only the Email Activity API can look up: an add-on that many accounts do not have. Without it, a mail whose reply is lost
 * stays unknown.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { cannotTell } from "../../engine/define/reading.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import { keyWindows } from "../key-windows.ts";
import { type LagOptions, readingOf } from "../read-list.ts";
import { listAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** A mail to one recipient: of several, some could get it and others not. */
export interface MailArguments {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** A mail with this subject is wanted once; its words are no part of the intent. */
export type MailIntent = Pick<MailArguments, "from" | "to" | "subject">;

/** Refuses several recipients before anything is sent: SMTP takes a mail that one of them gets, and the others do not. */
export function mailIntent({ from, to, subject }: MailArguments): MailIntent {
  if (!SEVERAL.test(`${to}`.replaceAll(QUOTED, ""))) return { from, to, subject };
  throw new InvalidInputError("args.to", "must be one recipient. Send a mail to each.");
}

/** What stands between two addresses, and may stand in a quoted name: RFC 5322, 3.4. */
const SEVERAL = /[,;]/;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/** A mail that Resend has taken. */
export interface ResendMail {
  readonly id: string;
}

/** A mail to one recipient. */
export function resendMail(
  access: ServiceAccess,
): ToolWithInput<MailArguments, MailIntent, ResendMail> {
  return serviceAt(access, "https://api.resend.com").tool({
    name: "resend_mail",
    service: "resend",
    intent: mailIntent,
    path: "/emails",
    key: { header: "Idempotency-Key", ...keyWindows.resend },
    body: ({ from, to, subject, text, html }) => ({ from, to: [to], subject, text, html }),
    result: (body): ResendMail => ({ id: textAt(body, "id") }),
    effect: { id: ({ id }) => id },
  });
}

/** A mail that SendGrid has taken. */
export interface SendgridMail {
  /** From the answer it is the X-Message-Id, from a read the longer `msg_id`. */
  readonly messageId: string;
}

/** How SendGrid is reached. How far its activity lags is not published. */
export interface SendgridAccess extends ServiceAccess, LagOptions {
  /** The account has the Email Activity API, and the token may use it. @default false */
  readonly activity?: boolean | undefined;
}

// The arguments were called unique_args before: sendgrid.com/docs/for-developers/sending-email/unique-arguments. That a query for
// unique_args finds custom_args is not documented, so what it does not find proves nothing.
const MARK = "holdfire_key";
const MOST = 10;

/** A mail to one recipient. */
export function sendgridMail(
  access: SendgridAccess,
): ToolWithInput<MailArguments, MailIntent, SendgridMail> {
  const lags = !access.windowCoversLag;
  const service = serviceAt(access, "https://api.sendgrid.com");
  const find = async (key: string, signal: AbortSignal): Promise<readonly unknown[]> => {
    const query = { query: `unique_args['${MARK}']="${key}"`, limit: `${MOST}` };
    const { body } = await service.call({ method: "GET", path: "/v3/messages", query, signal });
    return listAt(body, "messages");
  };
  return service.tool({
    name: "sendgrid_mail",
    service: "sendgrid",
    intent: mailIntent,
    path: "/v3/mail/send",
    body: ({ from, to, subject, text, html }, { key }) => ({
      personalizations: [{ to: [{ email: to }] }],
      from: { email: from },
      subject,
      content: [
        { type: "text/plain", value: text },
        ...(html === undefined ? [] : [{ type: "text/html", value: html }]),
      ],
      custom_args: { [MARK]: key },
    }),
    result: (_, { headers }): SendgridMail => ({ messageId: headers.get("x-message-id") ?? "" }),
    ...(access.activity && {
      readState: async ({ keys, signal }) => {
        const found = (await Promise.all(keys.map((key) => find(key, signal)))).flat();
        const idOf = ({ messageId }: SendgridMail): string => messageId;
        const list = { found, complete: true };
        const reading = readingOf(list, sendgridMailOf, idOf, { lags });
        const lost = found.some((message) => peek(message, "status") === NOT_DELIVERED);
        return lost ? cannotTell("the mail was not delivered") : reading;
      },
    }),
  });
}

/** Besides "processed" and "delivered": twilio.com/docs/sendgrid/api-reference/email-activity. */
const NOT_DELIVERED = "not_delivered";

const sendgridMailOf = (message: unknown): SendgridMail => ({
  messageId: textAt(message, "msg_id"),
});
