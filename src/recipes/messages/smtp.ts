/**
 * A mail by SMTP, whose Message-ID is made from the key.
 *
 * No server has to recognise a repeated Message-ID, and none can be asked for it. A copy in the Sent folder is
 * proof; its absence is none, for not every server keeps copies.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { cannotTell, committed, duplicated } from "../../engine/define/reading.ts";
import { typed } from "../../engine/define/schema.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import type { Verdict } from "../../reasons.ts";
import { type MailArguments, type MailIntent, mailIntent } from "./mail.ts";

/** A transport of nodemailer, by structure. Not a pool that sends again. */
export interface SmtpTransport {
  sendMail(mail: MailArguments & { readonly messageId: string }): Promise<unknown>;
}

/** A mail that a server has taken. */
export interface SmtpMail {
  readonly messageId: string;
}

/** How mails are sent, and found again. */
export interface SmtpOptions {
  readonly transport: SmtpTransport;
  /** The right side of the Message-ID, e.g. `mail.acme.com`. */
  readonly domain: string;
  /** How many mails of the Sent folder have this Message-ID, e.g. by an IMAP search. @default not counted, so nothing is read */
  readonly countSent?:
    | ((messageId: string, about: { readonly signal: AbortSignal }) => Promise<number>)
    | undefined;
}

const DOMAIN = /^[A-Za-z0-9.-]{1,253}$/;

/** A mail to one recipient. */
export function smtpMail(options: SmtpOptions): ToolWithInput<MailArguments, MailIntent, SmtpMail> {
  const { transport, domain, countSent } = options;
  if (!DOMAIN.test(domain)) throw new InvalidInputError("domain", "must be a host name.");
  const idOf = (key: string): string => `<${key}@${domain}>`;
  return {
    name: "smtp_mail",
    kind: "write",
    service: "smtp",
    input: typed<MailArguments>(),
    intent: mailIntent,
    run: async ({ from, to, subject, text, html }, { key }) => {
      const messageId = idOf(key);
      await transport.sendMail({ from, to, subject, text, ...(html && { html }), messageId });
      return { messageId };
    },
    ...(countSent && {
      readState: async ({ keys, signal }) => {
        const mails = keys.map((key) => ({ messageId: idOf(key) }));
        const counts = await Promise.all(mails.map((m) => countSent(m.messageId, { signal })));
        const found = mails.flatMap((mail, index) =>
          Array(Math.min(counts[index] ?? 0, 9)).fill(mail),
        );
        const [first] = found;
        if (!first) return cannotTell("no copy was kept");
        return found.length > 1
          ? duplicated(found)
          : committed(first, { effectId: first.messageId });
      },
    }),
    classify,
    effect: { id: ({ messageId }) => messageId },
  };
}

/** The errors of nodemailer that carry the server's own answer to this mail. */
const ANSWERED: ReadonlySet<unknown> = new Set(["EAUTH", "EENVELOPE", "EMESSAGE"]);

/** RFC 5321, 4.2.1: 5yz and 4yz both say that the requested action did not occur. 421 is a goodbye. */
function classify(error: unknown): Verdict | undefined {
  const reply = peek(error, "responseCode");
  if (!ANSWERED.has(peek(error, "code")) || typeof reply !== "number") return undefined;
  if (reply >= 500 && reply <= 599) return "rejected";
  return reply >= 400 && reply !== 421 && reply <= 499 ? "refused" : undefined;
}
