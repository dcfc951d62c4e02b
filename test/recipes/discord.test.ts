import { expect, test } from "vitest";
import { discordMessage } from "../../src/recipes/messages/discord.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage, type Stage } from "./stage.ts";

const EPOCH = 1_420_070_400_000;

/**
 * Discord as documented: with `enforce_nonce` a nonce of the last minutes gets the first message. `lists`: whether the list of a
 * channel has the nonces, of which the documentation says nothing.
 */
async function openDiscord({ clock }: Stage, lists = true) {
  const kept: { id: string; channel_id: string; nonce?: string }[] = [];
  let declined = false;
  const add = (nonce: string) => {
    const id = `${(BigInt(clock.now() - EPOCH) << 22n) + BigInt(kept.length)}`;
    const message = { id, channel_id: "C1", nonce };
    kept.push(message);
    return message;
  };
  const fake = await startFake(({ method, query, json }) => {
    if (method === "GET") {
      const after = BigInt(query.get("after") ?? "0");
      const later = kept
        .filter(({ id }) => BigInt(id) > after)
        .slice(0, Number(query.get("limit")));
      return {
        body: later.map(({ nonce, ...message }) => ({ ...message, ...(lists && { nonce }) })),
      };
    }
    if (declined) return { status: 403, body: { code: 50013, message: "Missing Permissions" } };
    const nonce = `${json?.nonce}`;
    if (nonce.length > 25 || json?.enforce_nonce !== true) return { status: 400, body: {} };
    return { body: kept.find((message) => message.nonce === nonce) ?? add(nonce) };
  });
  const access = { authorization: "Bot x", baseUrl: fake.url };
  return {
    fake,
    kept,
    add,
    careful: discordMessage(access),
    definition: discordMessage({ ...access, windowCoversLag: true }),
    effects: () => kept.length,
    makeForeign: () => void add("another"),
    decline: () => {
      declined = true;
    },
  };
}

const ARGS = { channelId: "C1", content: "The deploy is done." };

recipeContract("discordMessage", {
  licence: "absent",
  recognises: true,
  says: true,
  open: async (stage) => ({ ...(await openDiscord(stage)), args: ARGS }),
});

test("a list that may have no nonces proves no absence, and a few minutes are no window", async () => {
  const stage = openStage();
  const { fake, careful, effects } = await openDiscord(stage, false);
  expect(careful.keyed).toBeUndefined();
  fake.lose("after");
  const tool = stage.tool({ ...careful, commitsWithinMs: 1_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect([fake.writes.length, effects()]).toEqual([1, 1]);
});

test("a busy channel is read page by page", async () => {
  const stage = openStage();
  const { fake, add, definition, effects } = await openDiscord(stage);
  for (let count = 0; count < 150; count += 1) add(`other-${count}`);
  fake.lose("after");
  expect(await stage.call(stage.tool(definition), ARGS)).toMatchObject({
    status: "committed",
    attempts: 1,
  });
  expect([fake.reads.length, effects()]).toEqual([2, 151]);
});
