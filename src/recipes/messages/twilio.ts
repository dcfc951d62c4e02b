/**
 * A Twilio message. There is no key and no place to put one, so a message is known only by its sender, its
 * recipient, its words and its time, and another may look the same.
 *
 * What may be ours is therefore *cannot tell*, unless you say that nothing else sends from there.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { absent, cannotTell, committed } from "../../engine/define/reading.ts";
import { digestText } from "../../key/digest.ts";
import { earliest, readPages } from "../read-list.ts";
import { listAt, maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** All of it is the intent. */
export interface TwilioMessageArguments {
  readonly to: string;
  readonly body: string;
}

/** A message that Twilio has. */
export interface TwilioMessage {
  readonly sid: string;
  /** As Twilio last told it, e.g. `queued`. */
  readonly status?: string | undefined;
}

/** The statuses of a message that did not go out, or did not arrive (the enum MessageStatus of Twilio's API description). */
const FAILED: ReadonlySet<unknown> = new Set(["failed", "undelivered", "canceled"]);

/** Whose messages these are. */
export interface TwilioAccess extends ServiceAccess {
  readonly accountSid: string;
  /** The number that messages come from. */
  readonly from: string;
  /**
   * Every message from this number is sent by tools of this ledger. Then the one message to this recipient
   * that no other operation has, and that has these words, is taken for this one's. Messages of the same words to one recipient
   * then go out one after the other, and none while one is unknown. @default false
   */
  readonly soleSender?: boolean | undefined;
}

const PAGE = "200";
const NUMBER = /^\+[1-9][0-9]{1,14}$/;

/** A message from a number of yours. */
export function twilioMessage(
  access: TwilioAccess,
): ToolWithInput<TwilioMessageArguments, TwilioMessageArguments, TwilioMessage> {
  const { accountSid, from, soleSender = false } = access;
  const path = `/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`;
  const service = serviceAt(access, "https://api.twilio.com");
  return service.tool({
    name: "twilio_message",
    service: "twilio",
    intent: ({ to, body }) => ({ to, body }),
    // One at a time: the message of an equal call that is under way, or unknown, would be taken for this one's.
    ...(soleSender && {
      resource: ({ to, body }) => `twilio/${from}/${to}/${digestText("twilio-message", body)}`,
    }),
    path,
    body: ({ to, body }) => new URLSearchParams({ To: to, From: from, Body: body }),
    result: messageOf,
    verify: ({ status }) => !FAILED.has(status),
    readState: async ({ intent: { to, body }, firstSentAt, taken, signal }) => {
      if (!NUMBER.test(to)) return cannotTell("a number is read only in the form +15551230000");
      // Not by DateSent: a message that waits in a queue has none yet.
      const query = { To: to, From: from, PageSize: PAGE };
      const { found, complete } = await readPages<unknown, Paging>(
        async (next = {}) => {
          const asked = { ...query, ...next };
          const { body } = await service.call({ method: "GET", path, query: asked, signal });
          return { items: listAt(body, "messages"), next: pagingOf(body) };
        },
        // Whatever it says: Twilio may have changed the words.
        (message) =>
          maybeTextAt(message, "direction") === "outbound-api" &&
          !(Date.parse(textAt(message, "date_created")) < earliest(firstSentAt)),
      );
      const bySid = new Map(found.map((one) => [textAt(one, "sid"), one]));
      const owned = await Promise.all([...bySid.keys()].map(taken));
      const free = [...bySid.values()].filter((_, index) => !owned[index]);
      const [first] = free;
      if (!first) return complete ? absent() : cannotTell("the list is longer than is read");
      if (!soleSender || free.length > 1 || maybeTextAt(first, "body") !== body) {
        return cannotTell("a message that may be this one is there");
      }
      const message = messageOf(first);
      if (FAILED.has(message.status)) return cannotTell(`the message is ${message.status}`);
      return committed(message, { effectId: message.sid });
    },
    effect: { id: ({ sid }) => sid },
  });
}

const messageOf = (message: unknown): TwilioMessage => {
  const status = maybeTextAt(message, "status");
  return { sid: textAt(message, "sid"), ...(status !== undefined && { status }) };
};

type Paging = { readonly Page?: string | undefined; readonly PageToken?: string | undefined };

/** Of the address of the next page only the place is taken, so no answer sends us elsewhere. */
function pagingOf(body: unknown): Paging | undefined {
  const uri = maybeTextAt(body, "next_page_uri");
  if (!uri) return undefined;
  const { searchParams } = new URL(uri, "https://api.twilio.com");
  return {
    Page: searchParams.get("Page") ?? undefined,
    PageToken: searchParams.get("PageToken") ?? undefined,
  };
}
