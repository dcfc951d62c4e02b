/**
 * A Discord message. The key goes out as its nonce, with `enforce_nonce`: one that was used "in the past few minutes" by the same
 * author gets the first message (docs.discord.com/developers/resources/message#create-message). No number is published, so
 * nothing is sent again on the strength of it.
 *
 * A message has its nonce in the documentation ("used for validating a message was sent"). That the list of a channel gives it back
 * is not documented, so a message that is not found may be there all the same.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { earliest, type LagOptions, readingOf, readPages } from "../read-list.ts";
import { listOf, maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** All of it is the intent. */
export interface DiscordMessageArguments {
  readonly channelId: string;
  readonly content: string;
}

/** A message that is there. */
export interface DiscordMessage {
  readonly id: string;
  readonly channelId: string;
}

const PAGE = 100;

/** A nonce has at most 25 characters, which is what 128 bits need in base 36. */
const nonceOf = (key: string): string => BigInt(`0x${key.replaceAll("-", "")}`).toString(36);

/** The smallest id that a message of this time can have: docs.discord.com/developers/reference#snowflakes. */
const snowflakeAt = (ms: number): string =>
  `${BigInt(Math.max(0, Math.floor(ms) - 1_420_070_400_000)) << 22n}`;

/** A message. `authorization` is `Bot …`; to find one, the bot must be allowed to read the channel's history. */
export function discordMessage(
  access: ServiceAccess & LagOptions,
): ToolWithInput<DiscordMessageArguments, DiscordMessageArguments, DiscordMessage> {
  const lags = !access.windowCoversLag;
  const service = serviceAt(access, "https://discord.com/api/v10");
  return service.tool({
    name: "discord_message",
    service: "discord",
    path: "/channels/{channelId}/messages",
    keyForm: nonceOf,
    body: ({ content }, { key }) => ({ content, nonce: key, enforce_nonce: true }),
    result: messageOf,
    // Over a limit nothing is posted: docs.discord.com/developers/topics/rate-limits.
    refuses: [429],
    readState: async ({ intent: { channelId }, keys, firstSentAt, signal }) => {
      const nonces = keys.map(nonceOf);
      const path = `/channels/${encodeURIComponent(channelId)}/messages`;
      const read = await readPages<unknown, string>(
        async (after = snowflakeAt(earliest(firstSentAt))) => {
          const query = { after, limit: `${PAGE}` };
          const { body } = await service.call({ method: "GET", path, query, signal });
          const items = listOf(body);
          const newest = items.map((item) => BigInt(textAt(item, "id"))).reduce(later, 0n);
          return { items, next: items.length < PAGE ? undefined : `${newest}` };
        },
        (message) => nonces.includes(maybeTextAt(message, "nonce") ?? ""),
      );
      return readingOf(read, messageOf, ({ id }) => id, { lags });
    },
    effect: { id: ({ id }) => id },
  });
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);

const messageOf = (message: unknown): DiscordMessage => ({
  id: textAt(message, "id"),
  channelId: textAt(message, "channel_id"),
});
