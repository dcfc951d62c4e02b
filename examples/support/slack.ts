/**
 * A stand-in for Slack, as far as an approval needs it: it posts and updates messages, and a person presses a button. The press
 * reaches your program as Slack sends it: a form with `payload`, signed with the signing secret. A press with another
 * signature, and one that is ten minutes old, come first.
 *
 * Sources: https://docs.slack.dev/authentication/verifying-requests-from-slack,
 * https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
 *
 * @module
 */

import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Slack {
  /** The Web API. */
  readonly url: string;
  readonly token: string;
  readonly signingSecret: string;
  /** The Request URL of the app; set it before the first question. */
  interactionsTo: string;
  /** The text of the message as it is now. */
  readonly message: string;
  close(): Promise<void>;
}

const OLD_SECONDS = 600;

export async function startSlack(): Promise<Slack> {
  const signingSecret = "the signing secret of an app";
  const token = "xoxb-example";
  let message = "";

  async function press(value: string, secret: string, ageSeconds: number): Promise<number> {
    const payload = JSON.stringify({
      type: "block_actions",
      user: { id: "U1", username: "ana" },
      actions: [{ type: "button", action_id: "approve", value }],
    });
    const body = new URLSearchParams({ payload }).toString();
    const at = String(Math.floor(Date.now() / 1_000) - ageSeconds);
    const hash = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
    const { status } = await fetch(slack.interactionsTo, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": at,
        "x-slack-signature": `v0=${hash}`,
      },
      body,
    });
    return status;
  }

  async function pressButton(blocks: readonly Block[]): Promise<void> {
    const buttons = blocks.flatMap(({ elements = [] }) => elements);
    const approve = buttons.find(({ action_id }) => action_id === "approve");
    if (!approve) return;
    const forged = await press(approve.value, "another secret", 0);
    const old = await press(approve.value, signingSecret, OLD_SECONDS);
    if (forged !== 401 || old !== 401) throw new Error(`They were answered ${forged} and ${old}.`);
    await press(approve.value, signingSecret, 0);
  }

  const server = createServer(async (request, response) => {
    const { text: said, blocks = [] } = JSON.parse(await text(request));
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    if (isKnown) message = said;
    const answer = isKnown
      ? { ok: true, channel: "C1", ts: "1.1" }
      : { ok: false, error: "not_authed" };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    if (isKnown && request.url === "/api/chat.postMessage") await pressButton(blocks);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const slack: Slack = {
    url: `http://127.0.0.1:${port}`,
    token,
    signingSecret,
    interactionsTo: "",
    get message() {
      return message;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return slack;
}

interface Block {
  readonly elements?: readonly { readonly action_id: string; readonly value: string }[];
}
