/**
 * Slack: a payout waits for a person, who is asked in a channel and presses a button. One payout.
 *
 *     npx node examples/approval-slack.ts
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { absent, committed, createHoldfire, type HoldfireEvents } from "holdfire";
import { memoryStore } from "holdfire/memory";
import { startSlack } from "./support/slack.ts";
import { type Payout, startWorld } from "./support/world.ts";

const { bank, end } = await startWorld();
// Yours: https://slack.com, the bot token and the signing secret of your app.
const slack = await startSlack();
// Yours would be createHoldfire({ app }): its ledger is a file, and outlives the process.
const hf = createHoldfire({ app: "payments-example", store: memoryStore() });

const payOut = hf.tool({
  name: "pay_out",
  kind: "destructive", // a person must approve it
  run: (payout: Payout, { key, signal }) => bank.pay(payout, { key, signal }),
  readState: async ({ key, signal }) => {
    const [found] = await bank.find(key, { signal });
    return found ? committed(found, { effectId: found.id }) : absent();
  },
});

async function slackApi(method: string, body: object): Promise<{ channel: string; ts: string }> {
  const response = await fetch(`${slack.url}/api/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${slack.token}` },
    body: JSON.stringify(body),
  });
  const answer = JSON.parse(await response.text());
  if (!answer.ok) throw new Error(`Slack answered ${answer.error}.`);
  return answer;
}

const button = (name: string, value: string) => ({
  type: "button",
  action_id: name,
  text: { type: "plain_text", text: name },
  value,
});

/** The messages, by operation, to be updated once there is an answer. */
const messages = new Map<string, Promise<{ channel: string; ts: string }>>();

async function ask({ id, tool }: HoldfireEvents["approval"]) {
  const question = await hf.approvals.get(id);
  const shown = JSON.stringify(question?.shown).slice(0, 2_000);
  // The digest binds the answer to what is shown here. A button's value may have 2,000 characters.
  const value = JSON.stringify({ id, digest: question?.digest });
  const section = { type: "section", text: { type: "plain_text", text: `${tool}: ${shown}` } };
  const buttons = { type: "actions", elements: [button("approve", value), button("deny", value)] };
  const said = `${tool} needs approval`;
  return slackApi("chat.postMessage", {
    channel: "#approvals",
    text: said,
    blocks: [section, buttons],
  });
}

async function update({ id, tool, status, by }: HoldfireEvents["approval"]): Promise<void> {
  const message = await messages.get(id);
  if (message) await slackApi("chat.update", { ...message, text: `${tool}: ${status} by ${by}` });
}

const updates: Promise<void>[] = [];
hf.on("approval", (event) => {
  // Detached: a call may be made inside an attempt of another one, and these requests are no part of it.
  if (event.status === "asked")
    messages.set(
      event.id,
      hf.detached(() => ask(event)),
    );
  else updates.push(hf.detached(() => update(event)));
});

const MOST_AGE_SECONDS = 300;

/** Whether the request is Slack's, and not an old one that is sent again. */
function isSlack(headers: IncomingHttpHeaders, body: string): boolean {
  const at = String(headers["x-slack-request-timestamp"]);
  const hash = createHmac("sha256", slack.signingSecret).update(`v0:${at}:${body}`).digest("hex");
  const wanted = Buffer.from(`v0=${hash}`);
  const given = Buffer.from(String(headers["x-slack-signature"]));
  const isOld = !(Math.abs(Date.now() / 1_000 - Number(at)) <= MOST_AGE_SECONDS);
  return !isOld && given.length === wanted.length && timingSafeEqual(given, wanted);
}

// The Request URL of the app: what a person presses.
const interactions = createServer(async (request, response) => {
  const body = await text(request);
  if (!isSlack(request.headers, body)) {
    response.writeHead(401).end();
    return;
  }
  const { user, actions } = JSON.parse(new URLSearchParams(body).get("payload") ?? "{}");
  const [{ action_id, value }] = actions;
  const { id, digest } = JSON.parse(value);
  const answer = action_id === "approve" ? hf.approvals.approve : hf.approvals.deny;
  // Slack wants a 200 within 3 seconds. One that has changed, has expired or was answered before is not taken.
  await answer(id, { digest, by: user.username }).catch((error) => console.error(error.message));
  response.writeHead(200).end();
});
await new Promise<void>((resolve) => interactions.listen(0, "127.0.0.1", resolve));
slack.interactionsTo = `http://127.0.0.1:${(interactions.address() as AddressInfo).port}`;

const call = () => payOut.outcome({ payee: "ana", cents: 40_00 }, { scope: "invoice-7" });

const held = await call();
console.log(held.status);
await hf.approvals.wait(held.id, { deadlineMs: 60_000 });
// A yes fires nothing by itself. The reply of this call is lost, and the payout is found.
console.log((await call()).status);
await Promise.all(updates);
console.log(slack.message);
interactions.close();
await end(hf, slack);
