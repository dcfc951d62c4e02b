/**
 * A Slack message, found again by the key in its metadata: docs.slack.dev/messaging/message-metadata. Slack documents no argument that
 * makes it recognise a repeated message.
 *
 * Slack says no inside a 200, so its error code is what is judged: those that are checked before anything is
 * posted are a no, the others prove nothing (`internal_error` may come after the message was posted).
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { cannotTell } from "../../engine/define/reading.ts";
import { type HttpAnswer, HttpAnswerError } from "../../http-tool/request.ts";
import { peek } from "../../lang/peek.ts";
import { earliest, readingOf, readPages } from "../read-list.ts";
import {
  listAt,
  maybeTextAt,
  type Service,
  type ServiceAccess,
  type ServiceRequest,
  serviceAt,
  textAt,
} from "../service.ts";

/** All of it is the intent. */
export interface SlackMessageArguments {
  /** The id of a channel, `C…`, `G…` or `D…`. A name can be written to, and not read. */
  readonly channel: string;
  readonly text: string;
  /** The message that this one answers. */
  readonly thread_ts?: string;
}

/** A message that is there. */
export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
}

const SLACK = "https://slack.com/api";
const MARK = "holdfire_key";
const PAGE = "200";
const CHANNEL_ID = /^[CGD][A-Z0-9]{1,20}$/;

/**
 * A message. The token must be allowed to read the channel's history, and to read metadata: whether the history alone is enough
 * for that is not documented (docs.slack.dev/reference/scopes/metadata.message.read).
 */
export function slackMessage(
  access: ServiceAccess,
): ToolWithInput<SlackMessageArguments, SlackMessageArguments, SlackMessage> {
  const service = serviceAt(access, SLACK);
  return service.tool({
    name: "slack_message",
    service: "slack",
    intent: ({ channel, text, thread_ts }) => ({ channel, text, ...(thread_ts && { thread_ts }) }),
    path: "/chat.postMessage",
    body: ({ channel, text, thread_ts }, { key }) => {
      const metadata = { event_type: MARK, event_payload: { key } };
      return { channel, text, thread_ts, metadata };
    },
    result: (_, answer): SlackMessage => {
      const body = okOf(answer);
      return { channel: textAt(body, "channel"), ts: textAt(body, "ts") };
    },
    readState: async ({ intent: { channel, thread_ts }, keys, firstSentAt, signal }) => {
      if (!CHANNEL_ID.test(channel)) return cannotTell("a channel is read by its id, not its name");
      const path = thread_ts ? "/conversations.replies" : "/conversations.history";
      const oldest = `${earliest(firstSentAt) / 1_000}`;
      const asked = { channel, oldest, include_all_metadata: "true", limit: PAGE };
      const list = await readPages<unknown, string>(
        async (cursor) => {
          const query = { ...asked, cursor, ts: thread_ts };
          const body = await ask(service, { method: "GET", path, query, signal });
          const next = maybeTextAt(peek(body, "response_metadata"), "next_cursor");
          if (!next && peek(body, "has_more") === true) {
            throw new Error("The history has more, and does not say where it goes on.");
          }
          return { items: listAt(body, "messages"), next: next || undefined };
        },
        (message) => keys.includes(keyIn(peek(message, "metadata")) ?? ""),
      );
      return readingOf(list, (message) => ({ channel, ts: textAt(message, "ts") }), idOf);
    },
    classify: (error) => (isRejection(peek(error, "code")) ? "rejected" : undefined),
    effect: { id: idOf },
  });
}

const idOf = ({ channel, ts }: SlackMessage): string => `${channel}/${ts}`;

const keyIn = (metadata: unknown): string | undefined =>
  peek(metadata, "event_type") === MARK
    ? maybeTextAt(peek(metadata, "event_payload"), "key")
    : undefined;

const ask = async (service: Service, request: ServiceRequest): Promise<unknown> =>
  okOf(await service.call(request));

function okOf(answer: HttpAnswer): unknown {
  const { body } = answer;
  if (peek(body, "ok") !== true) throw new HttpAnswerError(answer);
  return body;
}

const isRejection = (code: unknown): boolean =>
  REJECTIONS.has(code) || (typeof code === "string" && RESTRICTED.test(code));

/** `restricted_action`, and the forms of it that name the rule. */
const RESTRICTED = /^restricted_action(?:_[a-z_]{1,60})?$/;

/** Source: the errors of chat.postMessage on docs.slack.dev, as far as they are about the token, the channel or the text. */
const REJECTIONS: ReadonlySet<unknown> = new Set([
  "account_inactive",
  "channel_not_found",
  "invalid_auth",
  "invalid_metadata_format",
  "invalid_metadata_schema",
  "is_archived",
  "metadata_must_be_sent_from_app",
  "metadata_too_large",
  "missing_scope",
  "msg_too_long",
  "no_text",
  "not_authed",
  "not_in_channel",
  "team_access_not_granted",
  "token_expired",
  "token_revoked",
]);
