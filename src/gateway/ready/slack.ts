/**
 * Ready rules for `@modelcontextprotocol/server-slack`, which has no hints. Slack rewrites some texts (links, names): one
 * that is not found as it was sent stays unknown.
 *
 * @module
 */

import { READ, type ToolRules } from "../guard/rules.ts";

const PAGE = 100;
/** The server hands on what Slack says, also a no, and its own failures, as results. */
const YES = { ok: true };

export const slack: ToolRules = {
  slack_post_message: {
    kind: "write",
    about: ["channel_id"],
    succeedsWith: [YES],
    readWith: {
      tool: "slack_get_channel_history",
      arguments: { channel_id: "$intent.channel_id", limit: PAGE },
      items: "messages",
      match: { text: "$intent.text" },
      madeAt: "ts",
      id: "ts",
      pageSize: PAGE,
      newestFirst: true,
    },
  },
  slack_reply_to_thread: {
    kind: "write",
    about: ["channel_id", "thread_ts"],
    succeedsWith: [YES],
    readWith: {
      tool: "slack_get_thread_replies",
      arguments: { channel_id: "$intent.channel_id", thread_ts: "$intent.thread_ts" },
      items: "messages",
      match: { text: "$intent.text" },
      madeAt: "ts",
      id: "ts",
      pageSize: PAGE,
    },
  },
  // A second reaction with the same name is refused by Slack.
  slack_add_reaction: {
    kind: "write",
    about: ["timestamp"],
    keyed: { forMs: 3_600_000 },
    succeedsWith: [YES, { error: "already_reacted" }],
  },
  slack_list_channels: READ,
  slack_get_channel_history: READ,
  slack_get_thread_replies: READ,
  slack_get_users: READ,
  slack_get_user_profile: READ,
};
